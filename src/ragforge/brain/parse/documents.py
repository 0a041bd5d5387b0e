"""Documents: their sections by headings, in Markdown, other formats and Jupyter notebooks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import PurePosixPath

from ragforge.brain.languages.table import detect_language
from ragforge.brain.parse.outline import (
    MAX_SIGNATURE_CHARS,
    Definition,
    Outline,
    cut,
    outline_chunks,
)
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

_ROW = re.compile(r"([=\-~^\"'`#*+.:_<>])\1{2,}[ \t\r]*$")
_ASCIIDOC = re.compile(r"(={1,6})[ \t]+(\S.*?)(?:[ \t]+=+)?[ \t\r]*$")
_ASCIIDOC_BLOCK = re.compile(r"(-{4,}|\.{4,}|={4,}|\+{4,}|/{4,}|```)[ \t\r]*$")
_ORG_BLOCK = re.compile(r"#\+(?:begin|end)_", re.IGNORECASE)
_ORG = re.compile(r"(\*{1,6})[ \t]+(\S.*?)[ \t\r]*$")

# Lists of packages and logs are data, though they have the ending of a text.
_DATA = re.compile(
    r"(?:^|/)(?:[\w.-]*(?:requirements|constraints)[\w.-]*\.txt|robots\.txt|[^/]*\.log)$",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"""(?:^|/)(?:readme|changes|changelog|news|history|releases?|contributing|authors|contributors
    |maintainers|licen[sc]e|copying|copyright|notice|install|upgrading|todo|faq|hacking|bugs
    |security|support|thanks|credits)[^/.]*$""",
    re.IGNORECASE | re.VERBOSE,
)

NOTEBOOK = "notebook"
MAX_LINES = 80
"""Cells without a heading are joined into sections of up to this many lines."""
_CELLS = re.compile(r'"cells"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,]*")


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
        last = _find_last_line(lines, first, before)
        found.append(Definition(stem, stem, SECTION, first + 1, last + 1))
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
        found.append(
            Definition(
                title, qualified_name, SECTION, heading.line + 1, last + 1, signature, parent=parent
            )
        )
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


def is_prose(path: str) -> bool:
    """Tell whether a file is a document, by its ending or by a name such as README."""
    if "." in path.rpartition("/")[2].lstrip("."):
        return not _DATA.search(path) and detect_language(path) in FORMATS
    return _BARE.search(path) is not None


def outline_prose(language: str, path: str, text: str) -> Outline:
    """Return the outline of a document; without headings, in chunks of about sixty lines."""
    lines = text.removeprefix("\ufeff").split("\n")
    headings = list(FORMATS[language](lines))
    if not headings:
        return outline_chunks(language, path, text, SECTION)
    return outline_sections(language, path, lines, headings)


def _find_underlined(lines: Sequence[str]) -> Iterator[Heading]:
    """Yield titles with a row of signs below, or above and below.

    Each document chooses its signs: the first that appears is level 1, the next level 2.
    """
    levels: dict[tuple[str, bool], int] = {}
    for number, line in enumerate(lines):
        if number == 0 or line[:1].isalnum() or (below := _ROW.match(line)) is None:
            continue  # true for nearly all lines
        title = lines[number - 1].rstrip()
        if not title or _ROW.match(title):
            continue
        above = _ROW.match(lines[number - 2]) if number > 1 else None
        over = above is not None and above[1] == below[1]
        if not over and (title[0].isspace() or (number > 1 and lines[number - 2].strip())):
            continue  # the last line of a paragraph, or of a block
        if len(line.rstrip()) < min(len(title.strip()), 6):
            continue
        level = levels.setdefault((below[1], over), len(levels) + 1)
        yield Heading(title.strip(), level, number - 2 if over else number - 1)


def _find_plain(lines: Sequence[str]) -> Sequence[Heading]:
    """Return the headings of a plain text: underlined or marked, whichever are more."""
    underlined = list(_find_underlined(lines))
    if not any(line.startswith("#") for line in lines):
        return underlined
    marked = list(find_headings(lines))
    return marked if len(marked) > len(underlined) else underlined


def _find_marked(
    lines: Sequence[str], heading: re.Pattern[str], block: re.Pattern[str]
) -> Iterator[Heading]:
    """Yield lines that start with as many signs as their level, outside of code blocks."""
    inside = ""
    for number, line in enumerate(lines):
        if fence := block.match(line):
            kind = fence[0].strip()[:2]
            inside = "" if inside == kind else inside or kind
        elif not inside and (found := heading.match(line)):
            yield Heading(found[2], len(found[1]), number)


FORMATS: dict[str, Callable[[Sequence[str]], Iterable[Heading]]] = {
    "asciidoc": partial(_find_marked, heading=_ASCIIDOC, block=_ASCIIDOC_BLOCK),
    "org": partial(_find_marked, heading=_ORG, block=_ORG_BLOCK),
    "restructuredtext": _find_underlined,
    "text": _find_plain,
}


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    title: str  # the first heading in it, or empty
    level: int
    first: int  # lines of the file, counted from 1
    last: int


def outline_notebook(path: str, text: str) -> Outline | None:
    """Return the outline of a notebook, None if the text is not one."""
    cells = list(_read_cells(text))
    if not cells:
        return None
    found: list[Definition] = []
    stack: list[tuple[int, str]] = []  # levels and qualified names of the sections around
    stem = PurePosixPath(path).stem
    for group in _group_cells(cells):
        first = group[0]
        while first.title and stack and stack[-1][0] >= first.level:
            stack.pop()
        name = first.title or (stack[-1][1].rpartition(" > ")[2] if stack else stem)
        if first.title:
            stack.append((first.level, " > ".join([*(stack[-1][1:] if stack else ()), name])))
        found.append(
            Definition(
                name=name,
                qualified_name=stack[-1][1] if stack else stem,
                type=SECTION,
                start_line=first.first,
                end_line=group[-1].last,
                signature=f"{'#' * first.level} {name}".strip()[:MAX_SIGNATURE_CHARS],
                text="\n\n".join(cell.text for cell in group),
            )
        )
    return Outline(NOTEBOOK, tuple(found))


def _group_cells(cells: list[_Cell]) -> Iterator[list[_Cell]]:
    """Yield the cells of each section: up to the next heading, or the most lines."""
    group: list[_Cell] = []
    lines = 0
    for cell in cells:
        size = cell.text.count("\n") + 1
        if group and (cell.title or lines + size > MAX_LINES):
            yield group
            group, lines = [], 0
        group.append(cell)
        lines += size
    if group:
        yield group


def _read_cells(text: str) -> Iterator[_Cell]:
    """Yield the cells that are not empty, with their lines."""
    start = _CELLS.search(text)
    if start is None:
        return
    decoder, place, line, counted = json.JSONDecoder(), start.end(), 1, 0
    while True:
        place += _BETWEEN.match(text, place).end() - place  # type: ignore[union-attr]
        if not text.startswith("{", place):
            return
        try:
            cell, end = decoder.raw_decode(text, place)
        except ValueError:
            return
        source = cell.get("source", "")
        typed = "".join(source) if isinstance(source, list) else str(source)
        begins = max(text.rfind('"source"', place, end), place)
        line += text.count("\n", counted, begins)
        last = line + text.count("\n", begins, end)
        if typed.strip() and cell.get("cell_type") in ("markdown", "code", "raw"):
            yield _build_cell(typed, cell["cell_type"] == "markdown", line, last)
        line, counted, place = last, end, end


def _build_cell(text: str, is_markdown: bool, first: int, last: int) -> _Cell:
    heading = next(find_headings(text.split("\n")), None) if is_markdown else None
    if heading is None:
        return _Cell(text, "", 0, first, last)
    return _Cell(text, heading.title, heading.level, first, last)
