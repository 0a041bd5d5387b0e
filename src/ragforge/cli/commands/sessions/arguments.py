"""Told: how a session is named and shown, to people and to scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ragforge.domain.conversations import Conversation
    from ragforge.memory.sessions import SessionLine

SessionArgument = Annotated[
    str, typer.Argument(metavar="SESSION", help="The id of a session, or the start of it.")
]
SessionsArgument = Annotated[
    list[str], typer.Argument(metavar="SESSION", help="Ids of sessions, or the start of them.")
]
AllOption = Annotated[bool, typer.Option("--all", help="Sessions of all directories and projects.")]


def as_json(conversation: Conversation) -> dict[str, object]:
    from ragforge.domain.instants import format_instant

    return {
        "conversation_id": conversation.uuid,
        "title": conversation.title,
        "summary": conversation.summary,
        "status": conversation.status,
        "cwd": conversation.cwd,
        "project_path": conversation.project_path,
        "tags": list(conversation.tags),
        "turn_count": conversation.turn_count,
        "created_at": format_instant(conversation.created_at),
        "updated_at": format_instant(conversation.updated_at),
    }


def line_as_json(line: SessionLine) -> dict[str, object]:
    return {**as_json(line.conversation), "last_message": line.last_message}
