"""Markdown: the sections of a document, by its headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from ragforge.brain.parse.outline import MAX_SIGNATURE_CHARS, Definition, Outline

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t\r]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t\r]*$")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$")
# A line that starts so belongs to a list, a quote, a table or code, and is no setext heading.
_NO_PARAGRAPH = re.compile(r"\s*$| {4}|\t| {0,3}(?:[>|#]|[-+*][ \t]|\d+[.)][ \t])")
_FRONT_MATTER = "---"


@dataclass(frozen=True, slots=True)
class _Heading:
    title: str
    level: int
    line: int  # counted from 0


def outline_markdown(path: str, text: str) -> Outline:
    """Return the outline of a document; what precedes its first heading has the file's name."""
    lines = text.removeprefix("\ufeff").split("\n")
    stem = PurePosixPath(path).stem
    headings = list(_headings(lines))
    before = headings[0].line if headings else len(lines)
    found: list[Definition] = []
    if any(line.strip() for line in lines[:before]):
        first = next(number for number, line in enumerate(lines) if line.strip())
        found.append(_section(stem, stem, "", first, _last(lines, first, before), None))
    open_sections: list[tuple[_Heading, int]] = []  # with their index, outermost first
    ends = _ends(headings, len(lines))
    for heading, end in zip(headings, ends, strict=True):
        while open_sections and open_sections[-1][0].level >= heading.level:
            open_sections.pop()
        parent = open_sections[-1][1] if open_sections else None
        title = heading.title or stem
        above = [found[parent].qualified_name] if parent is not None else []
        last = _last(lines, heading.line, end)
        signature = lines[heading.line].strip()[:MAX_SIGNATURE_CHARS]
        qualified_name = " > ".join([*above, title])
        open_sections.append((heading, len(found)))
        found.append(_section(title, qualified_name, signature, heading.line, last, parent))
    return Outline("markdown", tuple(found))


def _headings(lines: list[str]) -> Iterator[_Heading]:
    fence = ""
    number = _after_front_matter(lines)
    paragraph = 0  # how many lines of text stand right above
    while number < len(lines):
        line = lines[number]
        marker = _FENCE.match(line)
        if fence:
            if marker and marker.group(1).startswith(fence) and not marker.group(2).strip():
                fence = ""
        elif marker:
            fence, paragraph = marker.group(1), 0
        elif atx := _ATX.match(line):
            yield _Heading((atx.group(2) or "").strip(), len(atx.group(1)), number)
            paragraph = 0
        elif paragraph and (setext := _SETEXT.match(line)):
            level = 1 if setext.group(1).startswith("=") else 2
            # Below several lines a row of dashes is far more often meant as a rule.
            if level == 1 or paragraph == 1:
                yield _Heading(lines[number - 1].strip(), level, number - 1)
            paragraph = 0
        else:
            starts = not _NO_PARAGRAPH.match(line)
            paragraph = paragraph + 1 if starts else 0
        number += 1


def _after_front_matter(lines: list[str]) -> int:
    if lines[0].rstrip() == _FRONT_MATTER:
        for number, line in enumerate(lines[1:], 1):
            if line.rstrip() == _FRONT_MATTER:
                return number + 1
    return 0


def _ends(headings: list[_Heading], line_count: int) -> list[int]:
    """Return for each heading the line of the next one of its level or above."""
    ends = [line_count] * len(headings)
    waiting: list[int] = []
    for index, heading in enumerate(headings):
        while waiting and headings[waiting[-1]].level >= heading.level:
            ends[waiting.pop()] = heading.line
        waiting.append(index)
    return ends


def _last(lines: list[str], first: int, end: int) -> int:
    """Return the last line of a section that is not blank."""
    last = end - 1
    while last > first and not lines[last].strip():
        last -= 1
    return last


def _section(
    name: str, qualified_name: str, signature: str, first: int, last: int, parent: int | None
) -> Definition:
    return Definition(
        name=name,
        qualified_name=qualified_name,
        type="section",
        start_line=first + 1,
        end_line=last + 1,
        signature=signature,
        docstring="",
        parent=parent,
    )
