"""`ragforge import`: import the sessions of other agents."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ragforge.cli.exit_codes import INCOMPLETE
from ragforge.cli.options import JsonOption, flag, option, parse_since
from ragforge.cli.progress import show_progress
from ragforge.cli.state import open_here
from ragforge.errors import InputError
from ragforge.show.console import print_json
from ragforge.show.imports import import_to_json, show_import

if TYPE_CHECKING:
    from ragforge.app.features.imports import ImportProgress, ImportReport


async def import_(
    *,
    agents: list[str] | None = option("--from AGENT", "Only from this agent; may be repeated."),
    path: Path | None = option("--path PATH", "A transcript, or a folder of them."),
    since: str | None = option("--since DATE", "Only files changed since a date, or 7d."),
    dry_run: bool = flag("--dry-run", "Count what would be imported; store nothing."),
    again: bool = flag("--again", "Read kept transcripts whose files are gone or changed."),
    as_json: JsonOption = False,
) -> None:
    """Import the sessions of other coding agents on this machine."""
    if again and path is not None:
        raise InputError("--again reads what RagForge kept, not a path. Leave out --path.")
    report = await import_sessions(
        agents or (), path, parse_since(since), dry_run, again=again, quiet=as_json
    )
    if as_json:
        print_json(import_to_json(report))
    if report.problems:
        raise typer.Exit(INCOMPLETE)


async def import_sessions(
    agents: Sequence[str],
    path: Path | None = None,
    since: datetime | None = None,
    dry_run: bool = False,
    *,
    again: bool = False,
    quiet: bool = False,
) -> ImportReport:
    """Import sessions with a progress bar, and show the report unless `quiet`."""
    async with open_here(detach=True) as app:
        imports = app.imports
        with show_progress() as on_step:

            def on_progress(step: ImportProgress) -> None:
                on_step(imports.name_agent(step.agent), step.done, step.total)

            if again:
                report = await imports.run_again(
                    agents, since, only_look=dry_run, on_progress=on_progress
                )
            else:
                report = await imports.run(
                    agents, path, since, only_look=dry_run, on_progress=on_progress
                )
        if not quiet:
            names = {agent: imports.name_agent(agent) for agent in report.agents}
            show_import(report, names, dry_run, again)
    return report
