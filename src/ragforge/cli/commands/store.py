"""`ragforge store`: look at the store, or move everything to another one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.state import JsonOption, current_directory, load
from ragforge.errors import SettingsError

if TYPE_CHECKING:
    from ragforge.config import Settings
    from ragforge.memory.exchange.copy import CopyProgress, CopyReport
    from ragforge.ports.store import Health

INFO_EXAMPLES = """\b
Examples:
  ragforge store info
  ragforge store info --json
"""

COPY_EXAMPLES = """\b
Examples:
  ragforge store copy --from notes.db --to bolt://localhost:7687
  ragforge store copy --from neo4j://db.example.org --to backup.db

An interrupted copy goes on where it stopped: run the same command again.
"""


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Look at the store, or copy it.",
        epilog=INFO_EXAMPLES + COPY_EXAMPLES.removeprefix("\b\nExamples:\n"),
        no_args_is_help=True,
    )
    group.command("info", epilog=INFO_EXAMPLES)(info)
    group.command("copy", epilog=COPY_EXAMPLES)(copy)
    app.add_typer(group, name="store")


def info(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show which store is in use and what it holds."""
    import asyncio

    from ragforge.show.console import print_json, print_table

    health, counts = asyncio.run(_info(load(context).settings))
    facts = {
        "engine": health.engine,
        "version": health.version,
        "location": health.location,
        "schema": health.schema,
        "problems": list(health.problems),
    }
    if as_json:
        print_json({**facts, "counts": counts})
        return
    rows = [[name, str(value)] for name, value in facts.items() if name != "problems"]
    rows += [["problem", problem] for problem in health.problems]
    rows += [[kind.replace("_", " "), f"{count:,}"] for kind, count in counts.items()]
    print_table(["Store", ""], rows)


async def _info(settings: Settings) -> tuple[Health, dict[str, int]]:
    from ragforge.app import open_app
    from ragforge.ports.archive import RECORD_KINDS

    async with open_app(settings, current_directory()) as app:
        counts = {str(kind): await app.store.archive.count(kind) for kind in RECORD_KINDS}
        return await app.store.health(), counts


def copy(
    context: typer.Context,
    source: Annotated[str, typer.Option("--from", metavar="URL", help="The store to read.")],
    target: Annotated[str, typer.Option("--to", metavar="URL", help="The store to fill.")],
    as_json: JsonOption = False,
) -> None:
    """Copy everything from one store to another; the source stays as it is."""
    from ragforge.show.console import print_json, print_note

    settings = load(context).settings
    start, end = _url("--from", source), _url("--to", target)
    if Path(start).resolve() == Path(end).resolve():
        raise typer.BadParameter("--from and --to are the same store")
    report = _copy(start, end, settings)
    if as_json:
        print_json({"resumed": report.resumed, "counts": dict(report.counts)})
        return
    total = sum(report.counts.values())
    again = ", continuing an interrupted copy" if report.resumed else ""
    print_note(f"Copied {total:,} records to {end}{again}.")


def _url(option: str, text: str) -> str:
    from ragforge.config.store_url import normal_store_url

    try:
        return normal_store_url(text, current_directory())
    except ValueError as error:
        raise SettingsError(f"{option} {error}.") from None


def _copy(source: str, target: str, settings: Settings) -> CopyReport:
    """Copy with a progress bar on stderr, which shows in a terminal only."""
    import asyncio

    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from ragforge.app import copy_store
    from ragforge.show.console import console

    out = console(stderr=True)
    columns = TextColumn("{task.description:<12}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        task = bar.add_task("")

        def on_progress(progress: CopyProgress) -> None:
            kind = progress.kind.replace("_", " ")
            bar.update(task, description=kind, completed=progress.done, total=progress.total)

        return asyncio.run(copy_store(source, target, settings, on_progress))
