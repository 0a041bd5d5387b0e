"""Enrich: from a line that was found to the text that makes sense of it.

Each line on its own merits: the smallest scope that holds it where the brain can tell, else
a window of the file around it. A file that cannot be read drops its lines.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from ragforge.context.excerpts import Excerpt, Location
from ragforge.domain.code import FileLine, Scope
from ragforge.errors import InputError
from ragforge.ports.code import CodeStore
from ragforge.tools.confine import Root

WINDOW_LINES = 50
MOST_FILE_BYTES = 5_000_000
SCOPE_CONFIDENCE = 0.1
WINDOW_FACTOR = 0.9


async def enrich_locations(
    spots: Sequence[Location], code: CodeStore | None, project_id: str, root: Path
) -> list[Excerpt]:
    """Return a piece for each spot; without a code store, from files alone."""
    scopes: Sequence[Scope | None] = [None] * len(spots)
    if code is not None and spots:
        places = [FileLine(spot.file, spot.line) for spot in spots]
        scopes = await code.scopes_at(project_id, places)
    bare = [spot for spot, scope in zip(spots, scopes, strict=True) if scope is None]
    windows = iter(await asyncio.to_thread(_cut_windows, bare, Root.at(root)) if bare else ())
    pieces = [
        _excerpt_scope(spot, scope) if scope is not None else next(windows)
        for spot, scope in zip(spots, scopes, strict=True)
    ]
    return [piece for piece in pieces if piece is not None]


def cut_window(spot: Location, lines: Sequence[str]) -> Excerpt:
    """Return the lines around a spot, as far as the file goes."""
    start = max(1, min(spot.line, len(lines)) - WINDOW_LINES)
    end = min(len(lines), spot.line + WINDOW_LINES)
    return Excerpt(
        file=spot.file,
        start_line=start,
        end_line=end,
        name=f"lines {start} to {end}",
        text="\n".join(lines[start - 1 : end]),
        score=spot.score * WINDOW_FACTOR,
        confidence=spot.confidence,
        found_by=(spot.arm,),
        is_scope=False,
    )


def _excerpt_scope(spot: Location, scope: Scope) -> Excerpt:
    confidence = min(1.0, spot.confidence + SCOPE_CONFIDENCE)
    return Excerpt.of_scope(scope, spot.score, confidence, (spot.arm,))


def _cut_windows(spots: Sequence[Location], root: Root) -> list[Excerpt | None]:
    files: dict[str, list[str] | None] = {}
    found: list[Excerpt | None] = []
    for spot in spots:
        if spot.file not in files:
            files[spot.file] = _read_lines(root, spot.file)
        lines = files[spot.file]
        found.append(cut_window(spot, lines) if lines else None)
    return found


def _read_lines(root: Root, file: str) -> list[str] | None:
    """Return the lines of a file within the project, or None if it cannot be read."""
    try:
        with root.open(root.inside(file)) as stream:
            data = stream.read(MOST_FILE_BYTES)
    except (OSError, InputError):
        return None
    return None if b"\0" in data else data.decode("utf-8", "replace").splitlines()
