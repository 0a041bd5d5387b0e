"""`ragforge context`: see what a model would get beside a message, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.exit_codes import INCOMPLETE
from ragforge.cli.loading import get_current_directory
from ragforge.cli.state import JsonOption, use_app

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.app.wiring.context_builder import EnrichedContext


def register(app: typer.Typer) -> None:
    app.command("context", epilog="context")(context)


def context(
    ctx: typer.Context,
    message: Annotated[
        str | None, typer.Argument(metavar="MESSAGE", help="What you would ask.")
    ] = None,
    last: Annotated[
        bool, typer.Option("--last", help="The receipt of the last answer in this directory.")
    ] = False,
    receipt_only: Annotated[
        bool, typer.Option("--receipt", help="The receipt alone, not the text.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the context of a message as a model would get it, and why each part is in it.

    Nothing is stored.
    """
    from ragforge.cli.progress import read_first
    from ragforge.cli.trust_questions import settle_reading
    from ragforge.show.console import print_json, print_note, sanitise
    from ragforge.show.receipts import show_receipt

    if last == (message is not None):
        raise typer.BadParameter("give a message, or --last", param_hint="MESSAGE")
    if message is None:
        receipt = use_app(ctx, lambda app: app.sessions.last_receipt())
        if receipt is None:
            print_note("No answer in this directory has a receipt yet. Ask something.")
            raise typer.Exit(1)
        if as_json:
            print_json({"receipt": receipt.to_json()})
        else:
            show_receipt(receipt)
        return
    text = message

    async def build(app: App) -> EnrichedContext:
        await read_first(app.code)
        return await app.build_context(text)

    built = use_app(
        ctx,
        build,
        detach=True,
        asks=True,
        before=lambda settings: settle_reading(settings, get_current_directory()),
    )
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
