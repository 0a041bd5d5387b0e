"""`ragforge ingest`, `watch`, `status`, `forget`: what is known of a project's code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.state import JsonOption, current_directory, load
from ragforge.errors import InputError

if TYPE_CHECKING:
    from ragforge.brain.ingestion.report import IngestionReport
    from ragforge.brain.project import ProjectStatus
    from ragforge.config import Settings

INGEST_EXAMPLES = """\b
Examples:
  ragforge ingest
  ragforge ingest ../other-project --verbose

An interrupted run goes on where it stopped. A second one reads only what has changed.
"""
WATCH_EXAMPLES = """\b
Examples:
  ragforge watch
"""
STATUS_EXAMPLES = """\b
Examples:
  ragforge status
  ragforge status --json
"""
FORGET_EXAMPLES = """\b
Examples:
  ragforge forget .
  ragforge forget src/generated
"""

PathArgument = Annotated[
    Path | None, typer.Argument(metavar="PATH", help="The project; this one if not given.")
]


def register(app: typer.Typer) -> None:
    app.command("ingest", epilog=INGEST_EXAMPLES)(ingest)
    app.command("watch", epilog=WATCH_EXAMPLES)(watch)
    app.command("status", epilog=STATUS_EXAMPLES)(status)
    app.command("forget", epilog=FORGET_EXAMPLES)(forget)


def ingest(
    context: typer.Context,
    path: PathArgument = None,
    *,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="List the files that are left out, and why.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Read the project's code: parse it, relate it, and make it searchable."""
    import asyncio

    from ragforge.show.console import print_json

    report, embedded = asyncio.run(_ingest(load(context).settings, _directory(path)))
    if as_json:
        print_json(_report_as_json(report, embedded, verbose))
    else:
        _show_report(report, embedded, verbose)


async def _ingest(settings: Settings, folder: Path) -> tuple[IngestionReport, int]:
    from ragforge.app import open_code
    from ragforge.cli.progress import ingestion_bar

    async with open_code(settings, folder) as code:
        with ingestion_bar() as on_step:
            return await code.brain.ingest(on_step)


def watch(context: typer.Context, path: PathArgument = None) -> None:
    """Keep the project's code known while files change, until Ctrl-C."""
    import asyncio

    asyncio.run(_watch(load(context).settings, _directory(path)))


async def _watch(settings: Settings, folder: Path) -> None:
    import asyncio

    from ragforge.app import open_app
    from ragforge.show.console import print_note

    def told(report: IngestionReport) -> None:
        if report.read or report.removed:
            print_note(f"{report.read} files read, {report.removed} removed.")

    async with open_app(settings, folder) as app:
        print_note(f"Watching {app.project_path}. Ctrl-C stops.")
        await app.brain.watch(asyncio.Event(), told)


def status(
    context: typer.Context, path: PathArgument = None, *, as_json: JsonOption = False
) -> None:
    """Show what is known of the project's code, how fresh it is and what is pending."""
    import asyncio
    from dataclasses import asdict

    from ragforge.show.console import print_json
    from ragforge.show.project_status import show_status

    found, jobs = asyncio.run(_status(load(context).settings, _directory(path)))
    if as_json:
        print_json({**asdict(found), "fresh": found.is_fresh, "jobs": jobs})
    else:
        show_status(found, jobs)


async def _status(settings: Settings, folder: Path) -> tuple[ProjectStatus, dict[str, int]]:
    from ragforge.app import open_code

    async with open_code(settings, folder) as code:
        counts = await code.store.jobs.counts()
        return await code.brain.status(), {str(key): count for key, count in counts.items()}


def forget(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A project, or a part of one.")],
    as_json: JsonOption = False,
) -> None:
    """Forget the code of a project, or of a directory or file in it; nothing on disk changes."""
    import asyncio

    from ragforge.show.console import print_json, print_note

    files = asyncio.run(_forget(load(context).settings, path))
    if as_json:
        print_json({"files": files})
    else:
        print_note(f"{files:,} files forgotten.")


async def _forget(settings: Settings, path: Path) -> int:
    from ragforge.app import open_code
    from ragforge.brain.project import below

    place = (current_directory() / path).resolve()
    folder = place if place.is_dir() else place.parent
    async with open_code(settings, folder if folder.is_dir() else current_directory()) as code:
        under = below(code.project_path, place)
        if under is None:
            raise InputError(f"{place} is not in the project {code.project_path}.")
        return await code.brain.ingester.forget(code.project_path, under or None)


def _directory(path: Path | None) -> Path:
    folder = current_directory() if path is None else current_directory() / path
    if not folder.is_dir():
        raise InputError(f"{folder} is not a directory. Name one that holds a project.")
    return folder


def _report_as_json(report: IngestionReport, embedded: int, verbose: bool) -> dict[str, object]:
    facts: dict[str, object] = {
        "project_id": report.project_id,
        "files": report.files,
        "read": report.read,
        "removed": report.removed,
        "scopes": report.scopes,
        "related": report.related,
        "embedded": embedded,
        "skipped": dict(report.reasons),
    }
    if verbose:
        facts["skipped_files"] = [[file.path, file.reason] for file in report.skipped]
    return facts


def _show_report(report: IngestionReport, embedded: int, verbose: bool) -> None:
    from ragforge.show.console import console, print_note, printable

    if verbose:
        out = console()
        for file in report.skipped:
            out.print(f"{printable(file.path)}  ", end="")
            out.print(file.reason, style="dim")
    changed = f"{report.read:,} read, {report.removed:,} removed" if report.read else "none changed"
    if not report.read and report.removed:
        changed = f"{report.removed:,} removed"
    print_note(
        f"{report.files:,} files ({changed}), {report.scopes:,} scopes parsed, "
        f"{embedded:,} embedded."
    )
    if report.skipped and not verbose:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in report.reasons.items())
        print_note(f"Left out: {reasons}. --verbose lists them.")
