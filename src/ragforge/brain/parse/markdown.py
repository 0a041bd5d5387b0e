"""Markdown: the sections of a document, by its headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from ragforge.brain.parse.chunks import cut
from ragforge.brain.parse.outline import MAX_SIGNATURE_CHARS, Definition, Outline
from ragforge.domain.code import SECTION
from ragforge.records import dataclass

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t\r]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t\r]*$")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$")
# A line of a list, quote, table or code block, which cannot be a setext heading.
_NO_PARAGRAPH = re.compile(r"\s*$| {4}|\t| {0,3}(?:[>|#]|[-+*][ \t]|\d+[.)][ \t])")
_FRONT_MATTER = "---"


LONGEST_LINES = 120
"""Longer sections are split: a hit in one would not help."""


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


@dataclass(frozen=True, slots=True)
class Heading:
    """A title, how deep it is (1 is outermost), and where it begins."""

    title: str
    level: int
    line: int  # counted from 0


def outline_sections(
    language: str, path: str, lines: Sequence[str], headings: Sequence[Heading]
) -> Outline:
    """Return the outline of a document; the text before the first heading has the file's name.

    A long section without inner headings is split into parts.
    """
    headings = list(_with_parts(lines, headings))
    stem = PurePosixPath(path).stem
    before = headings[0].line if headings else len(lines)
    found: list[Definition] = []
    if any(line.strip() for line in lines[:before]):
        first = next(number for number, line in enumerate(lines) if line.strip())
        found.append(
            _build_section(stem, stem, "", first, _find_last_line(lines, first, before), None)
        )
    open_sections: list[tuple[Heading, int]] = []  # with their index, outermost first
    ends = _find_ends(headings, len(lines))
    for heading, end in zip(headings, ends, strict=True):
        while open_sections and open_sections[-1][0].level >= heading.level:
            open_sections.pop()
        parent = open_sections[-1][1] if open_sections else None
        title = heading.title or stem
        above = [found[parent].qualified_name] if parent is not None else []
        last = _find_last_line(lines, heading.line, end)
        signature = lines[heading.line].strip()[:MAX_SIGNATURE_CHARS]
        qualified_name = " > ".join([*above, title])
        open_sections.append((heading, len(found)))
        found.append(_build_section(title, qualified_name, signature, heading.line, last, parent))
    return Outline(language, tuple(found))


def _with_parts(lines: Sequence[str], headings: Sequence[Heading]) -> Iterator[Heading]:
    """Yield the headings, and the starts of the further parts of long sections."""
    ends = [heading.line for heading in headings[1:]] + [len(lines)]
    for heading, end in zip(headings, ends, strict=False):
        yield heading
        place, part = heading.line, 1
        while end - place > LONGEST_LINES:
            place, part = cut(lines[:end], place), part + 1
            yield Heading(f"{heading.title} ({part})", heading.level + 1, place)


def _find_ends(headings: Sequence[Heading], line_count: int) -> list[int]:
    """Return for each heading the line of the next one of its level or above."""
    ends = [line_count] * len(headings)
    waiting: list[int] = []
    for index, heading in enumerate(headings):
        while waiting and headings[waiting[-1]].level >= heading.level:
            ends[waiting.pop()] = heading.line
        waiting.append(index)
    return ends


def _find_last_line(lines: Sequence[str], first: int, end: int) -> int:
    """Return the last line of a section that is not blank."""
    last = end - 1
    while last > first and not lines[last].strip():
        last -= 1
    return last


def _build_section(
    name: str, qualified_name: str, signature: str, first: int, last: int, parent: int | None
) -> Definition:
    return Definition(
        name=name,
        qualified_name=qualified_name,
        type=SECTION,
        start_line=first + 1,
        end_line=last + 1,
        signature=signature,
        docstring="",
        parent=parent,
    )
