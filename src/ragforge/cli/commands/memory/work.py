"""`ragforge memory work`: do what is queued."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.state import JsonOption, current_directory, load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragforge.config import Settings
    from ragforge.domain.work import JobStatus

EXAMPLES = """\b
Examples:
  ragforge memory work
  ragforge memory work --seconds 60 --json

Commands that end before their jobs are done start this by themselves.
"""


def work(
    context: typer.Context,
    seconds: Annotated[
        int, typer.Option(min=1, max=86_400, help="How long to go on at most.")
    ] = 600,
    as_json: JsonOption = False,
) -> None:
    """Do what is queued, until nothing is left: vectors, titles, summaries, the project's code."""
    import asyncio

    from ragforge.show.console import print_json, print_note

    counts = asyncio.run(_work(load(context).settings, seconds))
    if as_json:
        print_json({"counts": dict(counts)})
    else:
        left = counts["pending"] + counts["running"]
        print_note(f"{left:,} jobs are left." if left else "All jobs are done.")
        if counts["dead"]:
            print_note(f"{counts['dead']:,} jobs have failed: see `ragforge memory jobs`.")


async def _work(settings: Settings, seconds: int) -> Mapping[JobStatus, int]:
    from ragforge.app import open_app
    from ragforge.app.maintenance import work_until_done

    async with open_app(settings, current_directory()) as app:
        return await work_until_done(app, seconds)
