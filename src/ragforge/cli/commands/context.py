"""`ragforge context`: see what a model would get beside a message, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.state import JsonOption, current_directory, load

if TYPE_CHECKING:
    from ragforge.config import Settings
    from ragforge.context.build import EnrichedContext
    from ragforge.context.receipt import Receipt

EXAMPLES = """\b
Examples:
  ragforge context "Why does login loop?"
  ragforge context --receipt "Why does login loop?"
  ragforge context --last
  ragforge context --json "Why does login loop?"
"""
BAR_CHARS = 40
SOURCE_CHARS = 60


def register(app: typer.Typer) -> None:
    app.command("context", epilog=EXAMPLES)(context)


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
    import asyncio

    from ragforge.cli.console import print_json, print_note, printable

    if last == (message is not None):
        raise typer.BadParameter("give a message, or --last", param_hint="MESSAGE")
    settings = load(ctx).settings
    if message is None:
        receipt = asyncio.run(_last(settings))
        if receipt is None:
            print_note("No answer in this directory has a receipt yet. Ask something.")
            raise typer.Exit(1)
        if as_json:
            print_json({"receipt": receipt.to_json()})
        else:
            show(receipt)
        return
    built = asyncio.run(_build(settings, message))
    if as_json:
        print_json({"text": built.text, "receipt": built.receipt.to_json()})
        return
    if not receipt_only:
        typer.echo(printable(built.text))
        typer.echo()
    show(built.receipt)


async def _build(settings: Settings, message: str) -> EnrichedContext:
    from ragforge.app import open_app

    async with open_app(settings, current_directory()) as app:
        return await app.build_context(message)


async def _last(settings: Settings) -> Receipt | None:
    from ragforge.app import open_app

    async with open_app(settings, current_directory()) as app:
        return await app.last_receipt()


def show(receipt: Receipt) -> None:
    """Print a receipt: what is in, what was left out, how the searches went, and the budget."""
    from ragforge.cli.console import console, one_line, print_table
    from ragforge.context.receipt import SECTIONS

    out = console()
    rows = [
        [
            item.section.replace("_", " "),
            one_line(item.source, SOURCE_CHARS),
            "" if item.score is None else f"{item.score:.2f}",
            f"{item.chars:,}",
            one_line("; ".join(filter(None, (item.why, item.note))), 80),
        ]
        for item in receipt.items
    ]
    if rows:
        print_table(["Section", "Source", "Score", "Chars", "Why"], rows, one_line_each=("Why",))
    if receipt.left_out:
        out.print(f"Left out: {len(receipt.left_out)}", style="dim")
        for why in dict.fromkeys(one.why for one in receipt.left_out):
            some = [one.source for one in receipt.left_out if one.why == why]
            told = "; ".join(one_line(source, SOURCE_CHARS) for source in some[:3])
            more = f" and {len(some) - 3} more" if len(some) > 3 else ""
            out.print(f"  {why}: {told}{more}", style="dim")
    searched = [
        [
            one_line(search.name, SOURCE_CHARS),
            search.state,
            f"{search.milliseconds:,} ms",
            f"{search.found:,}",
            one_line(search.problem, 60),
        ]
        for search in receipt.searches
    ]
    print_table(["Search", "State", "Took", "Found", "Problem"], searched)
    share = receipt.chars / max(1, receipt.max_chars)
    filled = min(BAR_CHARS, round(share * BAR_CHARS))
    bar = "█" * filled + "░" * (BAR_CHARS - filled)
    out.print(f"{bar} {receipt.chars:,} of {receipt.max_chars:,} characters ({share:.0%})")
    parts = [(name, receipt.chars_of(name)) for name in SECTIONS]
    told = ", ".join(f"{name.replace('_', ' ')} {chars:,}" for name, chars in parts if chars)
    if told:
        out.print(told, style="dim")
