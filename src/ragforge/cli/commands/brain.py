"""`ragforge ingest`, `watch`, `status`, `pages`, `forget`: what is known of a project."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.exit_codes import BY_SIGNAL
from ragforge.cli.exit_codes import INTERRUPTED as CTRL_C
from ragforge.cli.loading import get_current_directory
from ragforge.cli.signals import EndingSignals
from ragforge.cli.state import JsonOption, use_app, use_code
from ragforge.domain.code import File, is_web_address
from ragforge.domain.instants import format_instant
from ragforge.errors import InputError
from ragforge.show.console import print_note, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragforge.app import App, Code
    from ragforge.app.features.code import IngestionReport, ProjectStatus
    from ragforge.domain.work import JobStatus

BACKGROUND = 5
"""How much a reading in the background yields to other processes."""
ANSWER_SECONDS, LOOK_SECONDS = 5.0, 0.05
"""How long it waits at most for the answer to the question that started it."""
INTERRUPTED = "Interrupted. What was read is kept; the next run continues there."

PathArgument = Annotated[
    Path | None, typer.Argument(metavar="PATH", help="The project; this one if not given.")
]


def register(app: typer.Typer) -> None:
    app.command("ingest", epilog="ingest")(ingest)
    app.command("watch", epilog="watch")(watch)
    app.command("status", epilog="status")(status)
    app.command("pages", epilog="pages")(pages)
    app.command("forget", epilog="forget")(forget)


def ingest(
    context: typer.Context,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATH]...", help="The project, or files of one; this project if not given."
        ),
    ] = None,
    *,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="List the files that are left out, and why.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Read it even if it is no project, or a home.")
    ] = False,
    background: Annotated[bool, typer.Option("--background", hidden=True)] = False,
    as_json: JsonOption = False,
) -> None:
    """Read the project's code: parse it, relate it, and make it searchable."""
    import asyncio

    from ragforge.cli.progress import show_ingestion
    from ragforge.cli.trust_questions import require_reading
    from ragforge.show.console import print_json, print_note
    from ragforge.show.project import report_to_json, show_report

    if background:
        _let_question_pass()
    ending = EndingSignals()

    async def run(code: Code) -> tuple[IngestionReport, int]:
        with ending.cancel_task(), show_ingestion() as on_step:
            return await code.ingest(on_step, files)

    folder, files = _split_files(paths or [])
    named = bool(paths) and not files
    try:
        report, embedded = use_code(
            context,
            folder,
            run,
            before=lambda settings: require_reading(settings, folder, named, yes),
        )
    except (asyncio.CancelledError, KeyboardInterrupt):
        print_note(INTERRUPTED)
        raise typer.Exit(
            CTRL_C if ending.received is None else BY_SIGNAL + ending.received
        ) from None
    if as_json:
        print_json(report_to_json(report, embedded, verbose))
    else:
        show_report(report, embedded, verbose)


def _let_question_pass() -> None:
    """Wait until the command that started this process has answered, for some seconds at most.

    Two that work at once slow each other down, and the user waits only for the answer.
    """
    if hasattr(os, "nice"):
        os.nice(BACKGROUND)
    asking, until = os.getppid(), time.monotonic() + ANSWER_SECONDS
    while os.getppid() == asking and time.monotonic() < until:
        time.sleep(LOOK_SECONDS)


def watch(context: typer.Context, path: PathArgument = None) -> None:
    """Ingest changed files while you work, until Ctrl-C."""
    import asyncio

    from ragforge.cli.trust_questions import require_reading
    from ragforge.show.console import print_note

    def on_report(report: IngestionReport) -> None:
        if report.read or report.removed:
            print_note(f"{report.read} files read, {report.removed} removed.")

    async def run(app: App) -> None:
        print_note(f"Watching {app.project_path}. Ctrl-C stops.")
        await app.code.watch(asyncio.Event(), on_report)

    folder, named = _require_directory(path), path is not None
    use_app(
        context,
        run,
        folder=folder,
        before=lambda settings: require_reading(settings, folder, named),
    )


def status(
    context: typer.Context,
    path: PathArgument = None,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Compare every file, also of a large project.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what is known of the project's code, how fresh it is and what is pending."""
    from ragforge.cli.trust_questions import settle_reading
    from ragforge.show.console import print_json
    from ragforge.show.project import show_status, status_to_json

    async def run(code: Code) -> tuple[ProjectStatus, Mapping[JobStatus, int]]:
        return await code.status(check), (await code.jobs.count()).by_status

    folder = _require_directory(path)
    found, jobs = use_code(
        context, folder, run, before=lambda settings: settle_reading(settings, folder)
    )
    if as_json:
        print_json(status_to_json(found, jobs))
    else:
        show_status(found, jobs)


def pages(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the web pages that the agent read for this project, which searches find again."""
    from ragforge.show.console import print_json

    found = use_code(context, get_current_directory(), lambda code: code.list_pages())
    if as_json:
        print_json({"pages": [page_to_json(page) for page in found]})
    else:
        show_pages(found)


def forget(
    context: typer.Context,
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH", help="A project, a part of one, or the address of a web page."
        ),
    ],
    as_json: JsonOption = False,
) -> None:
    """Forget the code of a project, of a part of it, or a web page; nothing on disk changes."""
    from ragforge.show.console import print_json, print_note

    here = get_current_directory()
    if is_web_address(path):
        use_code(context, here, lambda code: code.forget_page(path))
        if as_json:
            print_json({"files": 1})
        else:
            print_note("The page is forgotten.")
        return
    place = (here / path).resolve()
    folder = next((one for one in (place, place.parent) if one.is_dir()), here)
    files = use_code(context, folder, lambda code: code.forget(place))
    if as_json:
        print_json({"files": files})
    else:
        print_note(f"{files:,} files forgotten.")


def _split_files(paths: Sequence[Path]) -> tuple[Path, list[Path]]:
    """Return the folder that is meant, and the files in it that are named, if any are."""
    files = [get_current_directory() / path for path in paths]
    if len(files) < 2 and not any(file.is_file() for file in files):
        return _require_directory(paths[0] if paths else None), []
    for file in files:
        if not file.is_file():
            raise InputError(f"{file} is not a file. Name one project, or some files of one.")
    return files[0].parent, files


def _require_directory(path: Path | None) -> Path:
    folder = get_current_directory() if path is None else get_current_directory() / path
    if not folder.is_dir():
        raise InputError(f"{folder} is not a directory. Name one that holds a project.")
    return folder


def page_to_json(page: File) -> dict[str, object]:
    return {
        "url": page.path,
        "fetched_at": None if page.mtime is None else format_instant(page.mtime),
        "size": page.size,
    }


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
