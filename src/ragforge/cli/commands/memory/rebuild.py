"""`ragforge memory rebuild`: make now what is due, or all summaries anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.commands.memory.summaries import AllOption, confirm
from ragforge.cli.state import JsonOption, current_directory, load

if TYPE_CHECKING:
    from ragforge.app.maintenance import Rebuilt
    from ragforge.config import Settings

EXAMPLES = """\b
Examples:
  ragforge memory rebuild
  ragforge memory rebuild --anew --yes
  ragforge memory rebuild --all --json

With --anew all summaries are made again: after a chat model was chosen, or another one.
"""


def rebuild(
    context: typer.Context,
    anew: Annotated[bool, typer.Option("--anew", help="Throw the old summaries away.")] = False,
    everywhere: AllOption = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make the summaries and vectors that are due, now."""
    import asyncio

    from ragforge.show.console import print_json, print_note

    if anew and not yes:
        confirm("Throw the summaries away and make them again?")
    done = asyncio.run(_rebuild(load(context).settings, everywhere, anew))
    if as_json:
        print_json(
            {
                "conversations": done.conversations,
                "summaries": done.summaries,
                "failed_jobs": done.failed_jobs,
            }
        )
        return
    print_note(f"{done.conversations:,} conversations have {done.summaries:,} summaries.")
    if done.failed_jobs:
        print_note(f"{done.failed_jobs:,} jobs have failed: see `ragforge memory jobs`.")


async def _rebuild(settings: Settings, everywhere: bool, anew: bool) -> Rebuilt:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    from ragforge.app import open_app
    from ragforge.app.maintenance import rebuild
    from ragforge.show.console import console

    out = console(stderr=True)
    columns = BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    async with open_app(settings, current_directory()) as app:
        with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
            task = bar.add_task("conversations", total=None)
            return await rebuild(
                app,
                everywhere,
                anew,
                lambda done, total: bar.update(task, completed=done, total=total),
            )
