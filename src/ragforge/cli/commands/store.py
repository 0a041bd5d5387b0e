"""`ragforge store`: inspect, query, back up, repair, copy or shrink the store."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ragforge.app.wiring.stores import (
    back_up_store,
    copy_store,
    inspect_store,
    query_store,
    repair_store,
    vacuum_store,
)
from ragforge.cli.guard import FAILED
from ragforge.cli.loading import get_current_directory, load
from ragforge.cli.options import CommandGroup, JsonOption, argument, flag, option
from ragforge.cli.progress import show_progress
from ragforge.config.store_url import normalise_store_url
from ragforge.domain.queries import Query
from ragforge.errors import SettingsError
from ragforge.show.console import (
    fit_line,
    print_json,
    print_note,
    print_result,
    print_table,
    sanitise,
)
from ragforge.show.store import (
    rescue_to_json,
    show_rescue,
    show_store,
    show_vacuum,
    store_to_json,
    vacuum_to_json,
)

if TYPE_CHECKING:
    from ragforge.app.wiring.stores import CopyProgress
    from ragforge.domain.queries import QueryResult, Value

CELL_CHARS = 200
"""Longer values are cut in a table; JSON and CSV have all of them."""


GROUP = CommandGroup(
    help="Inspect, query, back up, repair, copy or shrink the store.",
    epilog="store",
    no_args_is_help=True,
)


async def info(as_json: JsonOption = False) -> None:
    """Show which store is in use and what it holds."""
    health, counts = await inspect_store(load().settings)
    print_result(as_json, store_to_json(health, counts), lambda: show_store(health, counts))


async def copy(
    source: str = option("--from URL", "The store to read.", ...),
    target: str = option("--to URL", "The store to write to.", ...),
    as_json: JsonOption = False,
) -> None:
    """Copy everything to another store; the source is not changed."""
    settings = load().settings
    start, end = _normalise_url("--from", source), _normalise_url("--to", target)
    if Path(start).resolve() == Path(end).resolve():
        raise typer.BadParameter("--from and --to are the same store")
    with show_progress() as on_progress:

        def on_copied(progress: CopyProgress) -> None:
            on_progress(progress.kind.replace("_", " "), progress.done, progress.total)

        report = await copy_store(start, end, settings, on_copied)
    total = sum(report.counts.values())
    again = ", continuing an interrupted copy" if report.resumed else ""
    copied = {"resumed": report.resumed, "counts": dict(report.counts)}
    print_result(as_json, copied, lambda: print_note(f"Copied {total:,} records to {end}{again}."))


def _normalise_url(option: str, text: str) -> str:
    try:
        return normalise_store_url(text, get_current_directory())
    except ValueError as error:
        raise SettingsError(f"{option} {error}.") from None


async def backup(target: Path = argument("FILE", "The new file to write.")) -> None:
    """Write everything to one new file, while the store is in use."""
    settings = load().settings
    place = get_current_directory() / target.expanduser()
    with show_progress() as on_progress:
        await back_up_store(settings, place, on_progress)
    print_note(f"Saved {settings.store.url} to {place}.")


async def repair(
    target: Path | None = option("--to FILE", "The new file; by default next to the store."),
    as_json: JsonOption = False,
) -> None:
    """Save what is readable of a damaged store to a new file."""
    settings = load().settings
    damaged = Path(settings.store.url)
    default = damaged.with_name(f"{damaged.stem}-repaired{damaged.suffix}")
    place = default if target is None else get_current_directory() / target.expanduser()
    with show_progress() as on_progress:
        report = await repair_store(
            settings, place, lambda done, total: on_progress("sessions", done, total)
        )
    print_result(
        as_json,
        {"file": str(place), **rescue_to_json(report)},
        lambda: show_rescue(report, str(damaged), str(place)),
    )
    if report.partly or report.lost or report.notes_lost:
        raise typer.Exit(FAILED)


async def vacuum(as_json: JsonOption = False) -> None:
    """Return the free space of the store's file to the disk."""
    settings = load().settings
    with show_progress() as on_progress:
        report = await vacuum_store(settings, lambda done, total: on_progress("pages", done, total))
    print_result(as_json, vacuum_to_json(report), lambda: show_vacuum(report, settings.store.url))


async def query(
    text: str = argument("QUERY", "SQL or Cypher; - reads from stdin."),
    parameters: list[str] | None = option(
        "--param NAME=VALUE", "The value of $NAME; may be repeated."
    ),
    limit: int = option("--limit", "Maximum number of rows.", 1_000, min=1),
    seconds: float = option("--timeout SECONDS", "Maximum time.", 30, min=0.1, max=3_600),
    as_csv: bool = flag("--csv", "Print CSV, for spreadsheets."),
    as_json: JsonOption = False,
) -> None:
    """Run a read-only query: SQL on a file, Cypher on a server."""
    if as_csv and as_json:
        raise typer.BadParameter("choose one of --csv and --json")
    wanted = Query(
        sys.stdin.read() if text == "-" else text,
        dict(_parse_parameter(one) for one in parameters or ()),
        limit,
        seconds,
    )
    result = await query_store(load().settings, wanted)
    if as_json:
        print_json([dict(zip(result.columns, row, strict=True)) for row in result.rows])
    elif as_csv:
        print_csv(result)
    else:
        show_result(result)
    if result.is_cut:
        print_note(f"There are more than {limit:,} rows. --limit shows more.")


def _parse_parameter(text: str) -> tuple[str, Value]:
    """Return a name and its value: a number, true, false or null as in JSON, otherwise text."""
    name, separator, value = text.partition("=")
    if not separator or not name.isidentifier():
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--param")
    try:
        parsed: Value = json.loads(value)
    except ValueError:
        return name, value
    return name, value if isinstance(parsed, list | dict) else parsed


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


for command in (info, query, copy, backup, repair, vacuum):
    GROUP.command(command.__name__, epilog=f"store/{command.__name__}")(command)
