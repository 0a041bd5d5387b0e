"""`ragforge import`: take in the sessions of other agents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.exit_codes import INCOMPLETE
from ragforge.cli.state import JsonOption, use_app

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.app.imports import ImportProgress, ImportReport

EXAMPLES = """\b
Examples:
  ragforge import
  ragforge import --from claude-code --since 30d
  ragforge import --from codex --path ~/backup/codex
  ragforge import --dry-run --json

Agents: claude-code, codex, gemini, opencode, aider, copilot, qwen, kimi, cursor, goose, cline,
roo. See docs/import.md.
Their files are only read. A second import reads what is new, and from then on every start does.
A file that cannot be read is named, the others are read, and the exit code is 3.
"""


def register(app: typer.Typer) -> None:
    app.command("import", epilog=EXAMPLES)(import_)


def import_(
    context: typer.Context,
    *,
    agents: Annotated[
        list[str] | None,
        typer.Option("--from", metavar="AGENT", help="Only of this agent; may be repeated."),
    ] = None,
    path: Annotated[
        Path | None,
        typer.Option("--path", metavar="PATH", help="A transcript, or a folder of them."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="DATE", help="Only files changed since: a date, or 7d."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count what would be taken in, and store nothing.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Take in what Claude Code, Codex and other agents did on this machine."""
    from ragforge.cli.dates import parse_since
    from ragforge.cli.progress import show_progress
    from ragforge.show.console import print_json
    from ragforge.show.imports import import_to_json, show_import

    begin = parse_since(since)

    async def run(app: App) -> tuple[ImportReport, dict[str, str]]:
        with show_progress() as on_step:

            def on_progress(step: ImportProgress) -> None:
                on_step(app.imports.name_agent(step.agent), step.done, step.total)

            report = await app.imports.run(
                agents or (), path, begin, only_look=dry_run, on_progress=on_progress
            )
        return report, {agent: app.imports.name_agent(agent) for agent in report.agents}

    report, names = use_app(context, run, detach=True)
    if as_json:
        print_json(import_to_json(report))
    else:
        show_import(report, names, dry_run)
    if report.problems:
        raise typer.Exit(INCOMPLETE)
