"""Enrich: extend each line that was found to an excerpt that can be understood.

The excerpt is the smallest scope around the line, if the brain knows one, else a window of the
file. Lines of a file that cannot be read are dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from ragforge.brain.files.secret_files import has_secret_content, is_secret_file
from ragforge.context.excerpts import Excerpt, Location
from ragforge.domain.code import FileLine, Scope
from ragforge.errors import InputError
from ragforge.ports.code_graph import CodeGraph
from ragforge.tools.confine import Root

WINDOW_LINES = 50
MAX_FILE_BYTES = 5_000_000
SCOPE_CONFIDENCE = 0.1
WINDOW_FACTOR = 0.9


async def enrich_locations(
    locations: Sequence[Location], code: CodeGraph | None, project_id: str, root: Path
) -> list[Excerpt]:
    """Return an excerpt for each location; without a code graph, only from the files."""
    scopes: Sequence[Scope | None] = [None] * len(locations)
    if code is not None and locations:
        places = [FileLine(location.file, location.line) for location in locations]
        scopes = await code.scopes_at(project_id, places)
    bare = [location for location, scope in zip(locations, scopes, strict=True) if scope is None]
    windows = iter(await asyncio.to_thread(_cut_windows, bare, Root.at(root)) if bare else ())
    excerpts = [
        _excerpt_scope(location, scope) if scope is not None else next(windows)
        for location, scope in zip(locations, scopes, strict=True)
    ]
    return [excerpt for excerpt in excerpts if excerpt is not None]


def cut_window(location: Location, lines: Sequence[str]) -> Excerpt:
    """Return the lines around a location."""
    start = max(1, min(location.line, len(lines)) - WINDOW_LINES)
    end = min(len(lines), location.line + WINDOW_LINES)
    return Excerpt(
        file=location.file,
        start_line=start,
        end_line=end,
        name=f"lines {start} to {end}",
        text="\n".join(lines[start - 1 : end]),
        score=location.score * WINDOW_FACTOR,
        confidence=location.confidence,
        found_by=(location.source,),
        is_scope=False,
    )


def _excerpt_scope(location: Location, scope: Scope) -> Excerpt:
    confidence = min(1.0, location.confidence + SCOPE_CONFIDENCE)
    return Excerpt.of_scope(scope, location.score, confidence, (location.source,))


def _cut_windows(locations: Sequence[Location], root: Root) -> list[Excerpt | None]:
    files: dict[str, list[str] | None] = {}
    found: list[Excerpt | None] = []
    for location in locations:
        if location.file not in files:
            files[location.file] = _read_lines(root, location.file)
        lines = files[location.file]
        found.append(cut_window(location, lines) if lines else None)
    return found


def _read_lines(root: Root, file: str) -> list[str] | None:
    """Return the lines of a file within the project, or None if it may not or cannot be read."""
    try:
        path = root.inside(file)
        if is_secret_file(path):
            return None
        with root.open(path) as stream:
            data = stream.read(MAX_FILE_BYTES)
    except (OSError, InputError):
        return None
    if b"\0" in data or has_secret_content(path, data):
        return None
    return data.decode("utf-8", "replace").splitlines()
