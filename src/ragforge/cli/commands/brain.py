"""`ragforge ingest`, `watch`, `status`, `pages`, `forget`: the index of a project."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.guard import EndingSignals
from ragforge.cli.loading import get_current_directory, load
from ragforge.cli.options import JsonOption, PathArgument, argument, flag, option
from ragforge.cli.progress import show_ingestion
from ragforge.cli.state import open_code_in, open_here
from ragforge.cli.trust_questions import require_reading, settle_reading
from ragforge.domain.code import File, is_web_address
from ragforge.errors import InputError
from ragforge.show.console import Fields, print_note, print_result, print_table
from ragforge.show.project import report_to_json, show_report, show_status, status_to_json

if TYPE_CHECKING:
    from ragforge.app.features.code import IngestionReport

BACKGROUND = 5
"""How nice to other processes a background ingestion is."""
ANSWER_SECONDS, POLL_SECONDS = 5.0, 0.05
"""The longest wait for the answer to the question that started a background ingestion."""
INTERRUPTED = "Interrupted. What was read is kept; the next run continues there."


def ingest(
    paths: list[Path] | None = argument(
        "[PATH]...", "The project, or files of it; by default this project.", None
    ),
    *,
    verbose: bool = flag("--verbose -v", "List the files that are left out, and why."),
    yes: bool = flag("--yes -y", "Read it even if it is a home, or not a project."),
    scip: Path | None = option(
        "--scip FILE", "Take relations from the index of an exact indexer (SCIP)."
    ),
    background: Annotated[bool, typer.Option("--background", hidden=True)] = False,
    as_json: JsonOption = False,
) -> None:
    """Parse and relate the project's code, and make it searchable."""
    if background:
        _wait_for_answer()
    ending = EndingSignals()

    async def run() -> tuple[IngestionReport, int]:
        async with open_code_in(folder, settings) as code:
            with ending.cancel_task(), show_ingestion() as on_step:
                return await code.ingest(on_step, files, scip and (here / scip))

    here = get_current_directory()
    folder, files = _split_files(paths or [])
    if scip is not None and files:
        raise typer.BadParameter("an index is read with the whole project", param_hint="--scip")
    settings = load().settings
    require_reading(settings, folder, bool(paths) and not files, yes)
    try:
        report, embedded = asyncio.run(run())
    except (asyncio.CancelledError, KeyboardInterrupt):
        print_note(INTERRUPTED)
        raise typer.Exit(ending.exit_code) from None
    print_result(
        as_json,
        report_to_json(report, embedded, verbose),
        lambda: show_report(report, embedded, verbose),
    )


def _wait_for_answer() -> None:
    """Wait for some seconds until the command that started this process has answered.

    Two at once slow each other down, and the user waits only for the answer.
    """
    if hasattr(os, "nice"):
        os.nice(BACKGROUND)
    asking, until = os.getppid(), time.monotonic() + ANSWER_SECONDS
    while os.getppid() == asking and time.monotonic() < until:
        time.sleep(POLL_SECONDS)


async def watch(path: PathArgument = None) -> None:
    """Ingest changed files while you work, until Ctrl-C."""

    def on_report(report: IngestionReport) -> None:
        if report.read or report.removed:
            print_note(f"{report.read} files read, {report.removed} removed.")

    folder, settings = _require_directory(path), load().settings
    require_reading(settings, folder, path is not None)
    async with open_here(settings, folder=folder) as app:
        print_note(f"Watching {app.project_path}. Ctrl-C stops.")
        await app.code.watch(asyncio.Event(), on_report)


async def status(
    path: PathArgument = None,
    *,
    check: bool = flag("--check", "Compare every file, even in a large project."),
    as_json: JsonOption = False,
) -> None:
    """Show what is indexed of the code, and how fresh it is."""
    folder, settings = _require_directory(path), load().settings
    settle_reading(settings, folder)
    async with open_code_in(folder, settings) as code:
        found = await code.status(check)
        jobs = (await code.jobs.count()).by_status
    print_result(as_json, status_to_json(found, jobs), lambda: show_status(found, jobs))


async def pages(as_json: JsonOption = False) -> None:
    """List the web pages that were read for this project.

    Searches find them again.
    """
    async with open_code_in(get_current_directory()) as code:
        found = await code.list_pages()
    listed = {"pages": [page_to_json(page) for page in found]}
    print_result(as_json, listed, lambda: show_pages(found))


async def forget(
    path: str = argument("PATH", "A project, a part of it, or a web page's address."),
    as_json: JsonOption = False,
) -> None:
    """Forget indexed code or a web page; nothing on disk changes."""
    here = get_current_directory()
    if is_web_address(path):
        async with open_code_in(here) as code:
            await code.forget_page(path)
        print_result(as_json, {"files": 1}, lambda: print_note("The page is forgotten."))
        return
    place = (here / path).resolve()
    folder = next((one for one in (place, place.parent) if one.is_dir()), here)
    async with open_code_in(folder) as code:
        files = await code.forget(place)
    print_result(as_json, {"files": files}, lambda: print_note(f"{files:,} files forgotten."))


def _split_files(paths: Sequence[Path]) -> tuple[Path, list[Path]]:
    """Return the folder, and the files in it if files were named."""
    files = [get_current_directory() / path for path in paths]
    if len(files) < 2 and not any(file.is_file() for file in files):
        return _require_directory(paths[0] if paths else None), []
    for file in files:
        if not file.is_file():
            raise InputError(f"{file} is not a file. Name one project, or files of one project.")
    return files[0].parent, files


def _require_directory(path: Path | None) -> Path:
    folder = get_current_directory() if path is None else get_current_directory() / path
    if not folder.is_dir():
        raise InputError(f"{folder} is not a directory. Name the directory of a project.")
    return folder


page_to_json = Fields("url=path fetched_at=mtime size")


def show_pages(pages: Sequence[File]) -> None:
    """Show pages as a table."""
    if not pages:
        print_note("No web page was read for this project.")
        return
    rows = [
        [f"{page.mtime:%Y-%m-%d}" if page.mtime else "", f"{page.size:,}", page.path]
        for page in pages
    ]
    print_table(["Fetched", "Bytes", "Address"], rows)
