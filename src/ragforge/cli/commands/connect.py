"""`ragforge connect`, `disconnect`, `hook` and `import`: the connection with other agents."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragforge.app.features.connections import Connections, format_diff
from ragforge.app.hook.report import describe_hooks
from ragforge.cli.guard import FAILED, INCOMPLETE
from ragforge.cli.hook import run_hook
from ragforge.cli.loading import get_current_directory, load
from ragforge.cli.options import JsonOption, YesOption, argument, flag, option, parse_since
from ragforge.cli.progress import show_progress
from ragforge.cli.state import confirm, open_here
from ragforge.errors import InputError
from ragforge.show.console import Fields, print_error, print_json, print_note, sanitise
from ragforge.show.imports import import_to_json, show_import

if TYPE_CHECKING:
    from ragforge.app.features.connections import Change
    from ragforge.app.features.imports import ImportProgress, ImportReport
    from ragforge.app.hook.report import HookReport

NamesArgument = Annotated[
    list[str] | None, typer.Argument(metavar="AGENT", help="By default all that are installed.")
]


def connect(
    agents: NamesArgument = None,
    *,
    yes: YesOption = False,
    status: bool = flag("--status", "Show which agents are connected; change nothing."),
    exclude: Path | None = option(
        "--exclude PATH", "Exchange nothing with agents in this folder and below."
    ),
    plugin: Path | None = option(
        "--plugin FOLDER", "Write a plugin for Claude Code into this folder."
    ),
    no_import: bool = flag("--no-import", "Do not import their earlier sessions now."),
    as_json: JsonOption = False,
) -> None:
    """Give other coding agents this memory.

    Their earlier sessions are imported, unless --no-import is given.
    """
    connections = _open()
    if exclude is not None:
        folder = get_current_directory() / exclude.expanduser()
        connections.exclude(folder)
        print_note(f"Excluded from now on: {folder.resolve()}")
        return
    if plugin is not None:
        if agents != ["claude-code"]:
            raise typer.BadParameter(
                "only claude-code has plugins: add claude-code", param_hint="--plugin"
            )
        for path in connections.write_plugin(plugin):
            print_note(f"Written: {path}")
        return
    if status:
        _show_status(connections, as_json)
        return
    chosen = connections.find(agents or [])
    if not chosen:
        print_note("No installed agent can be connected.")
        raise typer.Exit(FAILED)
    changes = connections.plan(chosen)
    problems = _change(changes, connections.connect, yes, as_json, "Connected")
    connections.prepare_hook()
    notes = [one.note for one in chosen if one.note]
    names = [one.name for one in chosen]
    report = None
    if not no_import:
        report = asyncio.run(import_sessions(names, quiet=as_json))
    if as_json:
        imported = {} if report is None else {"import": import_to_json(report)}
        print_json(_list_changes(changes, made=True) | imported)
    else:
        for note in notes:
            print_note(note)
    _end(problems)


def disconnect(
    agents: NamesArgument = None, *, yes: YesOption = False, as_json: JsonOption = False
) -> None:
    """Remove RagForge from other agents' configuration.

    Everything that is remembered is kept.
    """
    connections = _open()
    chosen = connections.find(agents or [])
    changes = connections.plan_removal(chosen)
    problems = _change(changes, connections.disconnect, yes, as_json, "Disconnected")
    if as_json:
        print_json(_list_changes(changes, made=True))
    _end(problems)


def _open() -> Connections:
    return Connections.of(load(quiet=True).settings)


def _change(
    changes: list[Change], make: Callable[[Change], None], yes: bool, as_json: bool, done: str
) -> list[str]:
    """Show the changes, ask, make them, and return the problems.

    A file that cannot be changed is reported; the others are changed.
    """
    needed = [change for change in changes if change.is_needed]
    problems = [change.problem for change in changes if change.problem]
    if not as_json and needed:
        typer.echo(sanitise(format_diff(needed)))
    if needed and not yes:
        if as_json or not sys.stdin.isatty():
            if as_json:
                print_json(_list_changes(changes, made=False))
            print_note("Nothing was changed: there is no terminal to ask in. Add --yes.")
            raise typer.Exit(FAILED)
        confirm("Change these files?")
    for change in needed:
        try:
            make(change)
        except InputError as error:
            problems.append(str(error))
    if not as_json:
        names = ", ".join(dict.fromkeys(one.agent for one in needed))
        print_note(f"{done}: {names}." if needed else "Nothing to change.")
    return problems


def _list_changes(changes: list[Change], made: bool) -> dict[str, object]:
    return {"changed": made, "files": [change_to_json(one) for one in changes]}


def _end(problems: list[str]) -> None:
    """Print the problems, and exit with an error code if there are any."""
    for problem in problems:
        print_error(f"{problem} Change it by hand, as docs/connect.md says.")
    if problems:
        raise typer.Exit(FAILED)


def _show_status(connections: Connections, as_json: bool) -> None:
    states = {
        one.name: "not installed"
        if not one.is_installed
        else "connected"
        if connections.is_connected(one)
        else "not connected"
        for one in connections.agents
    }
    hooks = connections.report_hooks()
    if as_json:
        excluded = list(connections.excluded)
        print_json({"agents": states, "excluded": excluded, "hooks": hooks_to_json(hooks)})
        return
    for one in connections.agents:
        typer.echo(f"{one.title:<12} {one.name:<12} {states[one.name]}")
    for folder in connections.excluded:
        typer.echo(f"excluded: {folder}")
    if said := describe_hooks(hooks):
        typer.echo(sanitise(said))


def change_to_json(change: Change) -> dict[str, Any]:
    """Return the change of a file."""
    is_removed = change.is_needed and change.after is None
    return _CHANGE(change) | {"removed": is_removed, "problem": change.problem or None}


def hooks_to_json(report: HookReport) -> dict[str, Any]:
    """Return the results of the last hooks."""
    count = report.results.get
    return {
        "calls": report.calls,
        "answered": count("given", 0),
        "empty": count("empty", 0),
        "excluded": count("excluded", 0),
        "late": count("late", 0),
        **_LATE(report),
        "failed": count("failed", 0),
        **_FAILURES(report),
    }


_CHANGE = Fields("agent path changes=is_needed")
_LATE = Fields("late_with_part late_while")
_FAILURES = Fields("failures median_ms deadline_ms")


def hook(
    event: str = argument("EVENT", "The event, if the input does not name it.", ""),
    agent: str = option("--agent NAME", "The calling agent.", "claude-code"),
) -> None:
    """Answer another agent: its call is on standard input."""
    run_hook([*([event] if event else []), "--agent", agent])


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
