"""`ragforge memory rebuild`: make the summaries that are due now, or all of them again."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.commands.memory.summaries import AllOption
from ragforge.cli.state import JsonOption, confirm, use_app

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.app.maintenance import RebuildReport


def rebuild(
    context: typer.Context,
    anew: Annotated[bool, typer.Option("--anew", help="Throw the old summaries away.")] = False,
    everywhere: AllOption = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make the summaries and vectors that are due, now."""
    from ragforge.cli.progress import show_progress
    from ragforge.show.console import print_json, print_note

    if anew and not yes:
        confirm("Throw the summaries away and make them again?")

    async def run(app: App) -> RebuildReport:
        with show_progress() as on_progress:
            return await app.maintenance.rebuild(
                everywhere, anew, lambda done, total: on_progress("conversations", done, total)
            )

    done = use_app(context, run)
    if as_json:
        print_json(asdict(done))
        return
    print_note(f"{done.conversations:,} conversations have {done.summaries:,} summaries.")
    if done.failed_jobs:
        print_note(f"{done.failed_jobs:,} jobs have failed: see `ragforge memory jobs`.")
