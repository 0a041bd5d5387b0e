"""Project pages: the time line of a project, and a map of its files."""

from __future__ import annotations

from datetime import timedelta
from itertools import groupby
from math import log2
from typing import TYPE_CHECKING

from ragforge.domain.instants import now
from ragforge.domain.text import shorten_end
from ragforge.web.forms import read_moment, read_text
from ragforge.web.render import render
from ragforge.web.session_pages import TURNS, Project, find_choices
from ragforge.web.treemap import HEIGHT, WIDTH, Box, draw_tiles

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from ragforge.app import App
    from ragforge.app.overview import MappedFile

SESSIONS = 50
"""Of a stretch of the time line."""
COLOURS = {
    "often": "The warmer, the more often it was talked about.",
    "lately": "The warmer, the more lately it was talked about.",
    "stale": "Warm is what changed after it was last talked about.",
}
"""What the colours of the map can say."""
WARMEST = 4
LETTER = 6.7
"""Units that a letter takes in the picture."""
LEAST_LETTERS = 5
_AGES = tuple(timedelta(days=days) for days in (1, 7, 30, 180))


def rate_file(file: MappedFile, by: str) -> int:
    """Return how warm the colour of a file is: 0, it was never talked about, to 4."""
    if file.last is None:
        return 0
    if by == "stale":
        return WARMEST if file.is_stale else 1
    if by == "lately":
        age = now() - file.last
        return WARMEST - sum(age > one for one in _AGES)
    return min(1 + int(log2(file.touches)), WARMEST)


async def show_timeline(request: Request) -> Response:
    """Show sessions with their summaries, commits and jobs by day, the newest first."""
    app: App = request.app.state.app
    project = read_text(request, "project") or app.project.id
    ids = app.project.ids if project in app.project.ids else (project,)
    period = await app.overview.read_period(ids, SESSIONS, read_moment(request, "before"))
    here = Project(app.project.id, app.project.path)
    projects = {one.id: one for one in (here, *(await find_choices(app)).projects)}
    days = groupby(period.events, lambda event: event.when.astimezone().date())
    return render(
        request,
        "timeline.html",
        days=[(day, list(events)) for day, events in days],
        before=period.before,
        project=project,
        is_here=project in app.project.ids,
        projects=tuple(projects.values()),
        turns=TURNS,
    )


async def show_map(request: Request) -> Response:
    """Show the files of this project as a picture, and as a list."""
    app: App = request.app.state.app
    by = read_text(request, "by")
    by = by if by in COLOURS else next(iter(COLOURS))
    files = {file.path: file for file in await app.overview.map_files()}
    picture = draw_tiles((file.path, file.size) for file in files.values())
    tiles = [
        (files[tile.path], rate_file(files[tile.path], by), tile.box, label_file(*tile))
        for tile in picture.files
    ]
    talked = sorted(files.values(), key=lambda file: (-file.touches, -file.size, file.path))
    return render(
        request,
        "map.html",
        tiles=tiles,
        folders=[(tile.box, label_folder(*tile)) for tile in picture.folders],
        files=talked,
        by=by,
        colours=tuple(COLOURS),
        meaning=COLOURS[by],
        width=int(WIDTH),
        height=int(HEIGHT),
    )


def label_file(path: str, box: Box) -> str:
    """Return the name of a file, or as much of it as its rectangle has room for."""
    name, room = path.rpartition("/")[2], int((box.width - 8) / LETTER)
    if box.height < 18 or (room < LEAST_LETTERS and room < len(name)):
        return ""
    return shorten_end(name, room)


def label_folder(path: str, box: Box) -> str:
    """Return the path of a folder, or as much of its end as its rectangle has room for."""
    room = int((box.width - 8) / LETTER)
    return path if len(path) <= room else f"…{path[1 - room :]}"
