"""`ragforge sessions`: the sessions of a directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.state import JsonOption, current_directory, load

if TYPE_CHECKING:
    from ragforge.config import Settings
    from ragforge.memory.sessions import SessionLine

EXAMPLES = """\b
Examples:
  ragforge sessions list
  ragforge sessions list --all
  ragforge sessions list --json
"""


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="See the sessions that are remembered.", epilog=EXAMPLES, no_args_is_help=True
    )
    group.command("list", epilog=EXAMPLES)(list_sessions)
    app.add_typer(group, name="sessions")


def list_sessions(
    context: typer.Context,
    everywhere: Annotated[
        bool, typer.Option("--all", help="Sessions of all directories, not only this one.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List sessions, the last active first."""
    import asyncio

    from ragforge.cli.console import print_json

    lines = asyncio.run(_sessions(load(context).settings, everywhere))
    if as_json:
        print_json({"sessions": [_as_json(line) for line in lines]})
    else:
        _show(lines, everywhere)


async def _sessions(settings: Settings, everywhere: bool) -> list[SessionLine]:
    from ragforge.app import open_app

    async with open_app(settings, current_directory()) as app:
        return await app.sessions(everywhere)


def _as_json(line: SessionLine) -> dict[str, object]:
    from ragforge.domain.instants import format_instant

    conversation = line.conversation
    return {
        "conversation_id": conversation.uuid,
        "title": conversation.title,
        "status": conversation.status,
        "cwd": conversation.cwd,
        "project_path": conversation.project_path,
        "tags": list(conversation.tags),
        "turn_count": conversation.turn_count,
        "created_at": format_instant(conversation.created_at),
        "updated_at": format_instant(conversation.updated_at),
        "last_message": line.last_message,
    }


def _show(lines: list[SessionLine], everywhere: bool) -> None:
    from ragforge.cli.console import one_line, print_note, print_table

    if not lines:
        hint = "." if everywhere else " in this directory. Try --all."
        print_note(f"There are no sessions{hint}")
        return
    columns = ["Session", "Last active", "Turns", "Title", "Last message"]
    rows = [
        [
            line.conversation.uuid[:8],
            f"{line.conversation.updated_at:%Y-%m-%d %H:%M}",
            str(line.conversation.turn_count),
            one_line(line.conversation.title or "", 60),
            one_line(line.last_message, 60),
        ]
        for line in lines
    ]
    place = "Directory" if everywhere else "Started"
    columns.insert(1, place)
    for row, line in zip(rows, lines, strict=True):
        started = f"{line.conversation.created_at:%Y-%m-%d %H:%M}"
        row.insert(1, line.conversation.cwd if everywhere else started)
    print_table(columns, rows, one_line_each=("Title", "Last message"))
