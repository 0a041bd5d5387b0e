"""`ragforge sessions list`: the sessions of a directory."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.commands.sessions.arguments import AllOption
from ragforge.cli.state import JsonOption, use_app

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.app.features.sessions import SessionLine
    from ragforge.domain.conversations import ConversationStatus


class Wanted(StrEnum):
    """Which sessions are listed."""

    active = "active"
    archived = "archived"
    any = "any"


_STATUS: dict[Wanted, ConversationStatus | None] = {
    Wanted.active: "active",
    Wanted.archived: "archived",
    Wanted.any: None,
}


def register(group: typer.Typer) -> None:
    group.command("list", epilog="sessions/list")(list_sessions)


def list_sessions(
    context: typer.Context,
    *,
    everywhere: AllOption = False,
    status: Annotated[Wanted, typer.Option("--status", help="Which of them.")] = Wanted.active,
    tags: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="Only with this tag; with any of several."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=10_000, help="How many to show.")
    ] = 50,
    as_json: JsonOption = False,
) -> None:
    """List sessions, the last active first."""
    from ragforge.show.console import print_json, print_note
    from ragforge.show.sessions import line_to_json, show_sessions

    async def find(app: App) -> tuple[list[SessionLine], str]:
        found = await app.sessions.find(_STATUS[status], tags or (), limit, everywhere=everywhere)
        return await app.sessions.add_last_messages(found), app.identity.key

    lines, viewer = use_app(context, find)
    if as_json:
        print_json({"sessions": [line_to_json(line) for line in lines]})
    elif lines:
        show_sessions(lines, everywhere, viewer)
        if len(lines) == limit:
            print_note(f"These are the last {limit}. --limit shows more.")
    else:
        place = "" if everywhere else " of this project"
        hint = "" if everywhere else " Try --all."
        kind = "" if status is Wanted.any else f" {status.value}"
        tagged = f" tagged {' or '.join(tags)}" if tags else ""
        print_note(f"There are no{kind} sessions{tagged}{place}.{hint}")
