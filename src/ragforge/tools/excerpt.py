"""Excerpt: the text around a match in a file, shortened so that the match stays visible."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ragforge.brain.files.exclusions import decode, has_secret_content
from ragforge.records import dataclass
from ragforge.tools.confine import Root
from ragforge.tools.workspace import LIMITS

LINE_CHARS = 200
CONTEXT_CHARS = 5_000
GAP = "…"


@dataclass(frozen=True, slots=True)
class FileExcerpt:
    """Text of a file and which lines it is; of lines that were too long, a part."""

    content: str
    start_line: int
    end_line: int


def cut_around(text: str, start: int, end: int, limit: int) -> tuple[str, int]:
    """Return up to `limit` characters around a match, and where they begin."""
    if len(text) <= limit:
        return text, 0
    room = max(0, limit - (end - start))
    first = max(0, min(start - room // 2, len(text) - limit))
    return text[first : first + limit], first


def shorten_around(text: str, start: int, end: int, limit: int = LINE_CHARS) -> str:
    """Return a stripped line, shortened around the match; `…` marks what was cut."""
    lead = len(text) - len(text.lstrip())
    bare = text.strip()
    if len(bare) <= limit:
        return bare
    kept, first = cut_around(bare, max(0, start - lead), max(0, end - lead), limit - 2)
    last = first + len(kept)
    return (GAP if first else "") + kept + (GAP if last < len(bare) else "")


def take_context(lines: Sequence[str], number: int, context: int) -> FileExcerpt | None:
    """Return a line with as many around it as fit; None if it is missing or does not fit."""
    if not 1 <= number <= len(lines) or len(lines[number - 1]) > CONTEXT_CHARS:
        return None
    first = last = number
    room = CONTEXT_CHARS - len(lines[number - 1])
    for distance in range(1, context + 1):  # the nearest first, both sides alike
        above, below = number - distance, number + distance
        if first == above + 1 and above >= 1 and len(lines[above - 1]) < room:
            first, room = above, room - len(lines[above - 1]) - 1
        if last == below - 1 and below <= len(lines) and len(lines[below - 1]) < room:
            last, room = below, room - len(lines[below - 1]) - 1
    return FileExcerpt("\n".join(lines[first - 1 : last]), first, last)


def read_lines(root: Root, path: str) -> list[str]:
    """Return the lines of a file; none if it is gone, secret, too large or not a regular file."""
    try:
        with root.open(path) as file:
            if os.fstat(file.fileno()).st_size > LIMITS.max_bytes:
                return []
            data = file.read(LIMITS.max_bytes)
    except OSError:
        return []
    return [] if has_secret_content(path, data) else split_lines(decode(data))


def split_lines(text: str) -> list[str]:
    """Return the lines as editors count them, without their ends."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]
