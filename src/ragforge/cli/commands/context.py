"""`ragforge context`: show the context that a model would get with a message, and why."""

from __future__ import annotations

import typer

from ragforge.cli.guard import FAILED, INCOMPLETE
from ragforge.cli.loading import get_current_directory, load
from ragforge.cli.options import JsonOption, argument, flag
from ragforge.cli.progress import read_first
from ragforge.cli.state import open_here
from ragforge.cli.trust_questions import settle_reading
from ragforge.show.answers import show_receipt
from ragforge.show.console import print_json, print_note, print_result, sanitise


async def context(
    message: str | None = argument("MESSAGE", "What you would ask.", None),
    last: bool = flag("--last", "The receipt of the last answer in this directory."),
    receipt_only: bool = flag("--receipt", "Show only the receipt, not the text."),
    as_json: JsonOption = False,
) -> None:
    """Show the context that a model would get for a message, and why.

    Nothing is stored.
    """
    if last == (message is not None):
        raise typer.BadParameter("give a message, or --last", param_hint="MESSAGE")
    if message is None:
        await _show_last(as_json)
        return
    settings = load(asks=True).settings
    settle_reading(settings, get_current_directory())
    async with open_here(settings, detach=True) as app:
        await read_first(app.code)
        built = await app.build_context(message)
    if as_json:
        print_json({"text": built.text, "receipt": built.receipt.to_json()})
    else:
        if not receipt_only:
            typer.echo(sanitise(built.text))
            typer.echo()
        show_receipt(built.receipt)
    if built.receipt.notices:
        print_note(built.receipt.notices)
    if built.receipt.failures:
        raise typer.Exit(INCOMPLETE)


async def _show_last(as_json: bool) -> None:
    async with open_here() as app:
        receipt = await app.sessions.last_receipt()
    if receipt is None:
        print_note("No answer in this directory has a receipt yet. Ask a question first.")
        raise typer.Exit(FAILED)
    print_result(as_json, {"receipt": receipt.to_json()}, lambda: show_receipt(receipt))
