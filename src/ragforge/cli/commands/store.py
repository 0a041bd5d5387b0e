"""`ragforge store`: look at the store, query it, back it up, repair, copy or shrink it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.commands.store_query import query
from ragforge.cli.help_texts import CommandGroup
from ragforge.cli.loading import get_current_directory
from ragforge.cli.state import JsonOption, load
from ragforge.errors import SettingsError

if TYPE_CHECKING:
    from ragforge.app.stores import CopyProgress, CopyReport
    from ragforge.config import Settings


def register(app: typer.Typer) -> None:
    group = CommandGroup(
        help="Look at the store, query it, back it up, repair, copy or shrink it.",
        epilog="store",
        no_args_is_help=True,
    )
    group.command("info", epilog="store/info")(info)
    group.command("query", epilog="store/query")(query)
    group.command("copy", epilog="store/copy")(copy)
    group.command("backup", epilog="store/backup")(backup)
    group.command("repair", epilog="store/repair")(repair)
    group.command("vacuum", epilog="store/vacuum")(vacuum)
    app.add_typer(group, name="store")


def info(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show which store is in use and what it holds."""
    import asyncio

    from ragforge.app import inspect_store
    from ragforge.show.console import print_json
    from ragforge.show.store import show_store, store_to_json

    health, counts = asyncio.run(inspect_store(load(context).settings))
    if as_json:
        print_json(store_to_json(health, counts))
    else:
        show_store(health, counts)


def copy(
    context: typer.Context,
    source: Annotated[str, typer.Option("--from", metavar="URL", help="The store to read.")],
    target: Annotated[str, typer.Option("--to", metavar="URL", help="The store to fill.")],
    as_json: JsonOption = False,
) -> None:
    """Copy everything from one store to another; the source stays as it is."""
    from ragforge.show.console import print_json, print_note

    settings = load(context).settings
    start, end = _normalise_url("--from", source), _normalise_url("--to", target)
    if Path(start).resolve() == Path(end).resolve():
        raise typer.BadParameter("--from and --to are the same store")
    report = _copy(start, end, settings)
    if as_json:
        print_json({"resumed": report.resumed, "counts": dict(report.counts)})
        return
    total = sum(report.counts.values())
    again = ", continuing an interrupted copy" if report.resumed else ""
    print_note(f"Copied {total:,} records to {end}{again}.")


def backup(
    context: typer.Context,
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The new file to write.")],
) -> None:
    """Write everything in the store to one new file, while others use the store."""
    import asyncio

    from ragforge.app import back_up_store
    from ragforge.cli.progress import show_progress
    from ragforge.show.console import print_note

    settings = load(context).settings
    place = get_current_directory() / target.expanduser()
    with show_progress() as on_progress:
        asyncio.run(back_up_store(settings, place, on_progress))
    print_note(f"Saved {settings.store.url} to {place}.")


def repair(
    context: typer.Context,
    target: Annotated[
        Path | None,
        typer.Option("--to", metavar="FILE", help="The new file; by default beside the store."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Save what can be read of a damaged store into a new file, session by session."""
    import asyncio

    from ragforge.app import repair_store
    from ragforge.cli.progress import show_progress
    from ragforge.show.console import print_json
    from ragforge.show.store import rescue_to_json, show_rescue

    settings = load(context).settings
    damaged = Path(settings.store.url)
    beside = damaged.with_name(f"{damaged.stem}-repaired{damaged.suffix}")
    place = beside if target is None else get_current_directory() / target.expanduser()
    with show_progress() as on_progress:

        def on_saved(done: int, total: int) -> None:
            on_progress("sessions", done, total)

        report = asyncio.run(repair_store(settings, place, on_saved))
    if as_json:
        print_json({"file": str(place), **rescue_to_json(report)})
    else:
        show_rescue(report, str(damaged), str(place))
    if report.partly or report.lost or report.notes_lost:
        raise typer.Exit(1)


def vacuum(context: typer.Context, as_json: JsonOption = False) -> None:
    """Give the space that deletions left in the file back to the disk."""
    import asyncio

    from ragforge.app import vacuum_store
    from ragforge.cli.progress import show_progress
    from ragforge.show.console import print_json
    from ragforge.show.store import show_vacuum, vacuum_to_json

    settings = load(context).settings
    with show_progress() as on_progress:

        def on_pages(done: int, total: int) -> None:
            on_progress("pages", done, total)

        report = asyncio.run(vacuum_store(settings, on_pages))
    if as_json:
        print_json(vacuum_to_json(report))
    else:
        show_vacuum(report, settings.store.url)


def _normalise_url(option: str, text: str) -> str:
    from ragforge.config.store_url import normalise_store_url

    try:
        return normalise_store_url(text, get_current_directory())
    except ValueError as error:
        raise SettingsError(f"{option} {error}.") from None


def _copy(source: str, target: str, settings: Settings) -> CopyReport:
    import asyncio

    from ragforge.app import copy_store
    from ragforge.cli.progress import show_progress

    with show_progress() as on_progress:

        def on_copied(progress: CopyProgress) -> None:
            on_progress(progress.kind.replace("_", " "), progress.done, progress.total)

        return asyncio.run(copy_store(source, target, settings, on_copied))
