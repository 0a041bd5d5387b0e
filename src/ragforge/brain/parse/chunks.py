"""Chunks: the outline of text without a grammar."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from ragforge.brain.parse.outline import MAX_SIGNATURE_CHARS, Definition, Outline
from ragforge.domain.code import CHUNK

TARGET_LINES = 60
_SHORTEST, _LONGEST = 40, 80  # a blank line in this range is preferred to the target


def outline_chunks(language: str, path: str, text: str, type_: str = CHUNK) -> Outline:
    """Return the outline of a text in chunks of about sixty lines, cut at blank lines."""
    lines = text.removeprefix("\ufeff").rstrip().split("\n")
    filename = PurePosixPath(path).name
    found: list[Definition] = []
    first = 0
    while first < len(lines):
        if not lines[first].strip():
            first += 1
            continue
        after = cut(lines, first)
        last = after - 1
        while not lines[last].strip():
            last -= 1
        found.append(_build_chunk(type_, filename, lines[first], first + 1, last + 1))
        first = after
    return Outline(language, tuple(found))


def cut(lines: Sequence[str], first: int) -> int:
    """Return the line at which the next chunk starts, counted from 0."""
    if len(lines) - first <= _LONGEST:
        return len(lines)
    target = first + TARGET_LINES
    blank = [line for line in range(first + _SHORTEST, first + _LONGEST) if not lines[line].strip()]
    return min(blank, key=lambda line: abs(line - target), default=target)


def _build_chunk(type_: str, filename: str, first_line: str, start: int, end: int) -> Definition:
    name = f"{filename}:{start}-{end}"
    return Definition(
        name=name,
        qualified_name=name,
        type=type_,
        start_line=start,
        end_line=end,
        signature=" ".join(first_line[: 4 * MAX_SIGNATURE_CHARS].split())[:MAX_SIGNATURE_CHARS],
        docstring="",
        parent=None,
    )
