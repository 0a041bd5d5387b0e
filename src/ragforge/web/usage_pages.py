"""Usage page: tokens and money over time, by agent, model and project, and the busiest files."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from ragforge.domain.instants import begin_of_day
from ragforge.web.forms import read_text
from ragforge.web.render import name_project, render
from ragforge.web.session_pages import find_choices

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from ragforge.app import App
    from ragforge.app.features.usage import By, UsageGroup, UsageReport

CHOICES: tuple[By, ...] = ("agent", "model", "project")
PERIODS = {"7": 7, "30": 30, "90": 90, "365": 365}
"""Days; anything else means the second."""
DAILY = 90
"""Of a longer period, weeks are shown."""
COLOURS = 7
"""How many of the largest have a colour; the others share the last one."""
WIDTH, HEIGHT, GAP = 720.0, 160.0, 0.2
FILES = 10


class Part(NamedTuple):
    """A part of a bar: what one agent, model or project took."""

    colour: int
    y: float
    height: float


class Bar(NamedTuple):
    """A day or a week in a plot."""

    day: date
    x: float
    width: float
    value: float
    parts: Sequence[Part]


class Plot(NamedTuple):
    """Bars over time."""

    bars: Sequence[Bar]
    largest: float


class Line(NamedTuple):
    """A row of the table: what one agent, model or project took."""

    name: str
    detail: str  # the path of a project
    colour: int
    group: UsageGroup


async def show_usage(request: Request) -> Response:
    """Show tokens and money of some projects in a period."""
    app: App = request.app.state.app
    by = next((one for one in CHOICES if one == read_text(request, "by")), CHOICES[0])
    days = PERIODS.get(read_text(request, "days"), 30)
    project = read_text(request, "project")
    ids = app.project.ids if project in app.project.ids else (project,)
    since = begin_of_day() - timedelta(days=days - 1)
    step: By = "day" if days <= DAILY else "week"
    whole, in_time = await app.usage.reports(
        [[by], [step, by]], since=since, project_ids=ids if project else ()
    )
    colours = {group.keys[0]: min(place, COLOURS) for place, group in enumerate(whole.groups)}
    dates = list_dates(since, step)
    tokens, money = (draw(in_time, dates, colours, is_money=one) for one in (False, True))
    here = not project or project in app.project.ids
    return render(
        request,
        "usage.html",
        by=by,
        choices_by=CHOICES,
        days=days,
        periods=tuple(PERIODS.values()),
        project=project,
        choices=await find_choices(app),
        total=whole.total,
        lines=[name_group(group, by, colours) for group in whole.groups],
        tokens=tokens,
        money=money,
        dates=list(zip(tokens.bars[::-1], money.bars[::-1], strict=True)),
        files=await app.overview.find_busiest_files(since, FILES) if here else (),
        step=step,
        width=int(WIDTH),
        height=int(HEIGHT),
    )


def name_group(group: UsageGroup, by: By, colours: dict[str, int]) -> Line:
    """Return a row of the table; a project is named by its folder."""
    key = group.keys[0]
    name = name_project(key) if by == "project" else key
    return Line(name, key if by == "project" else "", colours[key], group)


def list_dates(since: datetime, step: By) -> list[date]:
    """Return the days of a period, or the Mondays of its weeks, the oldest first."""
    first, last = since.date(), begin_of_day().date()
    if step == "week":
        first -= timedelta(days=first.weekday())
    apart = 7 if step == "week" else 1
    return [first + timedelta(days=at) for at in range(0, (last - first).days + 1, apart)]


def draw(
    report: UsageReport, dates: Sequence[date], colours: dict[str, int], *, is_money: bool
) -> Plot:
    """Return a bar for each day or week, with a part for each colour; the largest is lowest."""
    values: dict[str, dict[int, float]] = {str(day): {} for day in dates}
    for group in report.groups:
        name, key = group.keys
        if name in values:
            value = (group.usage.usd or 0.0) if is_money else float(group.tokens)
            parts = values[name]
            parts[colours[key]] = parts.get(colours[key], 0.0) + value
    sums = [sum(parts.values()) for parts in values.values()]
    largest = max(sums, default=0.0)
    room = WIDTH / max(len(dates), 1)
    bars = []
    for place, (day, parts) in enumerate(zip(dates, values.values(), strict=True)):
        stack, below = [], HEIGHT
        for colour, value in sorted(parts.items()):
            height = HEIGHT * value / largest if largest else 0.0
            below -= height
            stack.append(Part(colour, round(below, 1), round(height, 1)))
        x, width = room * (place + GAP / 2), room * (1 - GAP)
        bars.append(Bar(day, round(x, 1), round(width, 1), sums[place], stack))
    return Plot(bars, largest)
