"""`ragforge store`: look at the store, query it, back it up, repair, copy or shrink it."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.help_texts import CommandGroup
from ragforge.cli.loading import get_current_directory
from ragforge.cli.state import JsonOption, load
from ragforge.errors import SettingsError
from ragforge.show.console import fit_line, print_note, print_table, sanitise

if TYPE_CHECKING:
    from ragforge.app.wiring.stores import CopyProgress, CopyReport
    from ragforge.config import Settings
    from ragforge.domain.queries import QueryResult, Value


CELL_CHARS = 200
"""Longer values are cut in a table; JSON and CSV have all of them."""


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


def query(
    context: typer.Context,
    text: Annotated[
        str, typer.Argument(metavar="QUERY", help="SQL or Cypher; - reads it from stdin.")
    ],
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "--param", metavar="NAME=VALUE", help="The value of $NAME. May be given several times."
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many rows.")] = 1_000,
    timeout: Annotated[
        float, typer.Option(min=0.1, max=3_600, metavar="SECONDS", help="At most so long.")
    ] = 30,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, for spreadsheets.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Run a query of your own in the store: SQL on a file, Cypher on a server. It only reads."""
    import asyncio

    from ragforge.app import query_store
    from ragforge.domain.queries import Query
    from ragforge.show.console import print_json, print_note

    if as_csv and as_json:
        raise typer.BadParameter("choose one of --csv and --json")
    wanted = Query(
        sys.stdin.read() if text == "-" else text,
        dict(_parse_parameter(one) for one in parameters or ()),
        limit,
        timeout,
    )
    result = asyncio.run(query_store(load(context).settings, wanted))
    if as_json:
        print_json(result_to_json(result))
    elif as_csv:
        print_csv(result)
    else:
        show_result(result)
    if result.is_cut:
        print_note(f"There are more than {limit:,} rows. --limit gives more of them.")


def _parse_parameter(text: str) -> tuple[str, Value]:
    """Return a name and its value: a number, true, false or null as JSON has them, else text."""
    name, separator, value = text.partition("=")
    if not separator or not name.isidentifier():
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--param")
    try:
        parsed: Value = json.loads(value)
    except ValueError:
        return name, value
    return name, value if isinstance(parsed, list | dict) else parsed


def result_to_json(result: QueryResult) -> list[dict[str, Value]]:
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


def show_result(result: QueryResult) -> None:
    """Show the rows under their columns, each value on one line."""
    if not result.rows:
        print_note("No rows.")
        return
    rows = [[fit_line(_format(value), CELL_CHARS) for value in row] for row in result.rows]
    print_table(list(result.columns), rows)


def print_csv(result: QueryResult) -> None:
    """Print the rows as CSV, with the names of the columns first."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    is_terminal = sys.stdout.isatty()  # what a program reads stays as it is stored
    writer.writerow(result.columns)
    for row in result.rows:
        cells = map(_format, row)
        writer.writerow(map(sanitise, cells) if is_terminal else cells)


def _format(value: Value) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
