"""`ragforge today` and `usage`: what was done, and what requests to models took."""

from __future__ import annotations

from enum import StrEnum

from ragforge.cli.options import AllOption, JsonOption, option, parse_since
from ragforge.cli.state import open_here
from ragforge.show.console import print_result
from ragforge.show.today import show_today, today_to_json
from ragforge.show.usage import show_usage, usage_to_json


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


class By(StrEnum):
    """What usage is grouped by; Typer takes no list of literals."""

    day = "day"
    week = "week"
    agent = "agent"
    model = "model"
    project = "project"


async def usage(
    *,
    by: list[By] | None = option("--by", "Group by this; may be repeated."),
    since: str | None = option("--since DATE", "Only since a date, or an age such as 7d."),
    everywhere: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the tokens and the money that requests to models took."""
    start = parse_since(since)
    async with open_here() as app:
        report = await app.usage.report(
            [one.value for one in by or [By.day]], since=start, everywhere=everywhere
        )
    hint = "" if everywhere else " Try --all."
    text = f"No usage is known.{hint}"
    print_result(as_json, usage_to_json(report), lambda: show_usage(report, text))
