"""`ragforge usage`: tokens and money that requests to models took."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ragforge.cli.options import AllOption, JsonOption, parse_since
from ragforge.cli.state import open_for
from ragforge.show.console import print_result
from ragforge.show.usage import show_usage, usage_to_json


class By(StrEnum):
    """What usage is grouped by."""

    day = "day"
    week = "week"
    agent = "agent"
    model = "model"
    project = "project"


def register(app: typer.Typer) -> None:
    app.command("usage", epilog="usage")(usage)


async def usage(
    context: typer.Context,
    *,
    by: Annotated[
        list[By] | None,
        typer.Option("--by", help="Group by this; may be repeated."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="DATE", help="Only since a date, or an age such as 7d."),
    ] = None,
    everywhere: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the tokens and the money that requests to models took."""
    start = parse_since(since)
    async with open_for(context) as app:
        report = await app.usage.report(
            [one.value for one in by or [By.day]], since=start, everywhere=everywhere
        )
    hint = "" if everywhere else " Try --all."
    print_result(
        as_json,
        usage_to_json(report),
        lambda: show_usage(report, f"No usage is known.{hint}"),
    )
