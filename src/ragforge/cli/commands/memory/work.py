"""`ragforge memory work`: do the queued jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.state import JsonOption, use_app

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragforge.app import App
    from ragforge.domain.work import JobStatus


def work(
    context: typer.Context,
    seconds: Annotated[int, typer.Option(min=1, max=86_400, help="For how long at most.")] = 600,
    as_json: JsonOption = False,
) -> None:
    """Do the queued jobs until none is left: vectors, titles, summaries, the project's code.

    Then the upkeep of the store that is due.
    """
    from ragforge.show.console import print_json, print_note

    async def run(app: App) -> Mapping[JobStatus, int]:
        counts = await app.jobs.wait(seconds)
        await app.maintenance.finish_upkeep(seconds)
        return counts

    counts = use_app(context, run)
    if as_json:
        print_json({"counts": dict(counts)})
        return
    left = counts["pending"] + counts["running"]
    print_note(f"{left:,} jobs are left." if left else "All jobs are done.")
    if counts["dead"]:
        print_note(f"{counts['dead']:,} jobs have failed: see `ragforge memory jobs`.")
