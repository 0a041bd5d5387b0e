"""`ragforge memory embed`: vectors of the current model for all that is remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ragforge.cli.state import JsonOption, current_directory, load

if TYPE_CHECKING:
    from ragforge.config import Settings

EXAMPLES = """\b
Examples:
  ragforge memory embed
  RAGFORGE_EMBEDDINGS__MODEL=local ragforge memory embed

It happens in the background as well. An interrupted run goes on where it stopped.
"""


def embed(context: typer.Context, as_json: JsonOption = False) -> None:
    """Give every past turn a vector of the current embedding model, now."""
    import asyncio

    from ragforge.show.console import print_json, print_note

    model, missing, every = asyncio.run(_embed(load(context).settings))
    if as_json:
        print_json({"model": model, "turns": every, "embedded": every - missing})
        return
    left = f"; {missing:,} hold no words to embed" if missing else ""
    print_note(f"{every - missing:,} of {every:,} turns have vectors of {model}{left}.")


async def _embed(settings: Settings) -> tuple[str, int, int]:
    """Embed with a progress bar on stderr, which shows in a terminal only."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    from ragforge.app import open_app
    from ragforge.show.console import console

    out = console(stderr=True)
    columns = BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    async with open_app(settings, current_directory()) as app:
        embedder = app.recall.embedder
        name = embedder.name if embedder else ""
        missing, _ = await app.store.conversations.count_turns_to_embed(name)
        with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
            task = bar.add_task("turns", total=missing)
            missing, every = await app.embed_memory(lambda done: bar.advance(task, done))
        return name, missing, every
