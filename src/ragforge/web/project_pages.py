"""Project pages: the time line of a project, and a map of its files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from itertools import accumulate, groupby
from math import log2
from typing import TYPE_CHECKING, NamedTuple

from ragforge.domain.instants import begin_of_day, now
from ragforge.domain.text import keep_beginning, shorten_end
from ragforge.web.forms import read_day, read_moment, read_text
from ragforge.web.render import render
from ragforge.web.session_pages import TURNS, Project, find_choices

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from ragforge.app import App
    from ragforge.app.features.overview import MappedFile

SESSIONS = 50
"""Of a stretch of the time line."""
COLOURS = {
    "often": "Warmer colours: mentioned more often.",
    "lately": "Warmer colours: mentioned more recently.",
    "stale": "Warm colours: changed after the last mention.",
}
"""What the colours of the map can say."""
WARMEST = 4
LETTER = 6.7
"""Width of a letter in units of the picture."""
MIN_LETTERS = 5
_AGES = tuple(timedelta(days=days) for days in (1, 7, 30, 180))

WIDTH, HEIGHT = 1_000.0, 620.0
"""Of the picture, in its own units."""
GAP = 2.0
"""Between folders."""
HEADING = 15.0
"""Height of the line with a folder's name."""
_MIN_NAMED = (90.0, 60.0)
"""Width and height of the smallest folder whose name is shown."""


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
    if box.height < 18 or (room < MIN_LETTERS and room < len(name)):
        return ""
    return shorten_end(name, room)


def label_folder(path: str, box: Box) -> str:
    """Return the path of a folder, or as much of its end as its rectangle has room for."""
    room = int((box.width - 8) / LETTER)
    return path if len(path) <= room else f"…{path[1 - room :]}"


class Box(NamedTuple):
    """A rectangle of the picture."""

    x: float
    y: float
    width: float
    height: float


class Tile(NamedTuple):
    """A file or a folder in the picture."""

    path: str
    box: Box


class Picture(NamedTuple):
    """Files as rectangles, and the folders around them that have room for a name."""

    files: list[Tile]
    folders: list[Tile]


def draw_tiles(sizes: Iterable[tuple[str, int]]) -> Picture:
    """Return a tile for each file, given as path and size; an empty one gets a little too."""
    tree: dict[str, object] = {}
    for path, size in sizes:
        *folders, name = path.split("/")
        at = tree
        for folder in folders:
            at = at.setdefault(f"{folder}/", {})  # type: ignore[assignment]
        at[name] = (path, max(size, 1))
    picture = Picture([], [])
    _place(tree, Box(0, 0, WIDTH, HEIGHT), picture)
    return picture


def _place(tree: dict[str, object], box: Box, picture: Picture) -> None:
    """Divide a rectangle among what is in a folder; folders divide theirs in turn."""
    # A walk without recursion: folders may lie deeper than calls may.
    waiting = [(tree, box, "")]  # with the path below the last folder that is named
    while waiting:
        tree, box, path = waiting.pop()
        while len(tree) == 1 and isinstance(only := next(iter(tree.values())), dict):
            path += next(iter(tree))
            tree = only  # a folder that contains only one folder
        if path and box.width >= _MIN_NAMED[0] and box.height >= _MIN_NAMED[1]:
            picture.folders.append(Tile(path, _round(box)))
            box = Box(box.x, box.y + HEADING, box.width, box.height - HEADING)
            path = ""
        weights = _weigh(tree)
        items = sorted(tree.items(), key=lambda item: (-weights[item[0]], item[0]))
        boxes = divide([weights[name] for name, _ in items], box)
        for (name, item), part in zip(items, boxes, strict=True):
            if isinstance(item, dict):
                waiting.append((item, _shrink(part), path + name))
            elif isinstance(item, tuple):
                picture.files.append(Tile(item[0], _round(part)))


def divide(weights: Sequence[float], box: Box) -> list[Box]:
    """Return a part of a rectangle for each weight: halved along its longer side, again and again.

    Halves have about the same weight, so that the parts are nearly square.
    """
    if len(weights) < 2:
        return [box] * len(weights)
    sums = list(accumulate(weights))
    total = sums[-1] or 1
    at = min(range(1, len(weights)), key=lambda end: abs(sums[end - 1] / total - 0.5))
    share = sums[at - 1] / total
    width, height = box.width * share, box.height * share
    if box.width >= box.height:
        first, rest = (
            box._replace(width=width),
            box._replace(x=box.x + width, width=box.width - width),
        )
    else:
        first, rest = (
            box._replace(height=height),
            box._replace(y=box.y + height, height=box.height - height),
        )
    return [*divide(weights[:at], first), *divide(weights[at:], rest)]


def _weigh(tree: dict[str, object]) -> dict[str, float]:
    """Return the size of all that is in each of a folder's items."""
    weights: dict[str, float] = {}
    for name, item in tree.items():
        waiting, total = [item], 0
        while waiting:
            one = waiting.pop()
            if isinstance(one, dict):
                waiting += one.values()
            elif isinstance(one, tuple):
                total += one[1]
        weights[name] = total
    return weights


def _shrink(box: Box) -> Box:
    """Return a rectangle with room around it, if it is large enough."""
    if min(box.width, box.height) < 4 * GAP:
        return box
    return Box(box.x + GAP / 2, box.y + GAP / 2, box.width - GAP, box.height - GAP)


def _round(box: Box) -> Box:
    return Box(*(round(max(value, 0.0), 1) for value in box))


SAID_CHARS = 600
HERE = "here"
PERIODS = {"Today": 0, "Since yesterday": 1, "The last 7 days": 6}
"""Since how many days before this one."""


async def show_today(request: Request) -> Response:
    """Show what happened in all projects, or in this one, since a day."""
    app: App = request.app.state.app
    since = read_day(request, "since") or begin_of_day()
    is_here = read_text(request, "project") == HERE
    report = await app.today.report(since, everywhere=not is_here)
    today = begin_of_day().date()
    return render(
        request,
        "today.html",
        report=report,
        day=since.date(),
        days=[(name, today - timedelta(days=days)) for name, days in PERIODS.items()],
        is_here=is_here,
        cut=lambda text: keep_beginning(text, SAID_CHARS),
    )
