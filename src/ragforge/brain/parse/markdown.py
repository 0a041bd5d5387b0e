"""Markdown: the sections of a document, by its headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragforge.brain.parse.outline import Outline
from ragforge.brain.parse.sections import Heading, outline_sections

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t\r]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t\r]*$")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$")
# A line of a list, quote, table or code block, which cannot be a setext heading.
_NO_PARAGRAPH = re.compile(r"\s*$| {4}|\t| {0,3}(?:[>|#]|[-+*][ \t]|\d+[.)][ \t])")
_FRONT_MATTER = "---"


def outline_markdown(path: str, text: str) -> Outline:
    """Return the outline of a document by its headings."""
    lines = text.removeprefix("\ufeff").split("\n")
    return outline_sections("markdown", path, lines, list(find_headings(lines)))


def find_headings(lines: Sequence[str]) -> Iterator[Heading]:
    """Yield the headings of a text, except those in fenced code."""
    fence = ""
    number = _skip_front_matter(lines)
    paragraph = 0  # the number of text lines right above
    while number < len(lines):
        line = lines[number]
        marker = _FENCE.match(line)
        if fence:
            if marker and marker.group(1).startswith(fence) and not marker.group(2).strip():
                fence = ""
        elif marker:
            fence, paragraph = marker.group(1), 0
        elif atx := _ATX.match(line):
            yield Heading((atx.group(2) or "").strip(), len(atx.group(1)), number)
            paragraph = 0
        elif paragraph and (setext := _SETEXT.match(line)):
            level = 1 if setext.group(1).startswith("=") else 2
            # Below several lines a row of dashes is usually a horizontal rule.
            if level == 1 or paragraph == 1:
                yield Heading(lines[number - 1].strip(), level, number - 1)
            paragraph = 0
        else:
            starts = not _NO_PARAGRAPH.match(line)
            paragraph = paragraph + 1 if starts else 0
        number += 1


def _skip_front_matter(lines: Sequence[str]) -> int:
    if lines[0].rstrip() == _FRONT_MATTER:
        for number, line in enumerate(lines[1:], 1):
            if line.rstrip() == _FRONT_MATTER:
                return number + 1
    return 0
