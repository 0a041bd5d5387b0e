"""Today page: what was done since a day, by whom, what is open and what was decided."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from ragforge.domain.instants import begin_of_day
from ragforge.domain.text import keep_beginning
from ragforge.web.forms import read_day, read_text
from ragforge.web.render import render

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from ragforge.app import App

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
