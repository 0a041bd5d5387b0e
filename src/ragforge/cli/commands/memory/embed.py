"""`ragforge memory embed`: vectors of the current model for all that is remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ragforge.cli.state import JsonOption, use_app

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.app.maintenance import EmbeddedMemory


def embed(context: typer.Context, as_json: JsonOption = False) -> None:
    """Give every past turn a vector of the current embedding model, now."""
    from ragforge.cli.progress import show_progress
    from ragforge.show.console import print_json, print_note

    async def run(app: App) -> EmbeddedMemory:
        missing, done = (await app.maintenance.count_embedded()).missing, 0
        with show_progress() as on_progress:

            def on_embedded(count: int) -> None:
                nonlocal done
                done += count
                on_progress("turns", done, missing)

            return await app.maintenance.embed_memory(on_embedded)

    found = use_app(context, run)
    embedded = found.turns - found.missing
    if as_json:
        print_json({"model": found.model, "turns": found.turns, "embedded": embedded})
        return
    left = f"; {found.missing:,} hold no words to embed" if found.missing else ""
    print_note(f"{embedded:,} of {found.turns:,} turns have vectors of {found.model}{left}.")
