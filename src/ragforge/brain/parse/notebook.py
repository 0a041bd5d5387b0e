"""Notebook: the sections of a Jupyter notebook, by the headings in its cells.

Inputs count, text and code; outputs do not. A cell's lines are those of its source in the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from ragforge.brain.parse.markdown import find_headings
from ragforge.brain.parse.outline import MAX_SIGNATURE_CHARS, Definition, Outline
from ragforge.domain.code import SECTION
from ragforge.records import dataclass

NOTEBOOK = "notebook"
MAX_LINES = 80
"""Cells without a heading are joined into sections of up to this many lines."""
_CELLS = re.compile(r'"cells"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,]*")


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
                docstring="",
                parent=None,
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
