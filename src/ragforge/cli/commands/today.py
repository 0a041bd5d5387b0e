"""`ragforge today`: what was done, by whom, what is open and what was decided."""

from __future__ import annotations

from ragforge.cli.options import AllOption, JsonOption, option, parse_since
from ragforge.cli.state import open_here
from ragforge.show.console import print_result
from ragforge.show.today import show_today, today_to_json


async def today(
    *,
    since: str | None = option("--since DAY", "Since a day, or an age such as 7d."),
    everywhere: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show what was done, what is open and what was decided."""
    start = parse_since(since)
    async with open_here() as app:
        report = await app.today.report(start, everywhere=everywhere)
        viewer = app.identity.key
    print_result(as_json, today_to_json(report), lambda: show_today(report, viewer, everywhere))
