"""Sessions: how one is named, chosen and listed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragforge.tui.console import one_line, print_table

if TYPE_CHECKING:
    from ragforge.domain.conversations import Conversation
    from ragforge.memory.sessions import SessionLine

NO_TITLE = "(no title)"


def short(uuid: str) -> str:
    """Return as much of an id as is shown."""
    from ragforge.memory.sessions import SHORT_ID

    return uuid[:SHORT_ID]


def named(conversation: Conversation) -> str:
    """Return a session's short id and title, for a sentence."""
    title = one_line(conversation.title or "", 60)
    return f"{short(conversation.uuid)} ({title})" if title else short(conversation.uuid)


def turns_of(conversation: Conversation) -> str:
    """Return how many turns a session has, in words."""
    return "1 turn" if conversation.turn_count == 1 else f"{conversation.turn_count} turns"


def show_lines(lines: Sequence[SessionLine], with_directory: bool) -> None:
    """Show sessions as a table, with their directory or the time they began."""
    second = "Directory" if with_directory else "Started"
    columns = ["Session", second, "Last active", "Turns", "Title", "Last message"]
    rows = [_row(line, with_directory) for line in lines]
    print_table(columns, rows, one_line_each=("Title", "Last message"))


def _row(line: SessionLine, with_directory: bool) -> list[str]:
    about = line.conversation
    marks = ["(archived)"] if about.status == "archived" else []
    marks += [f"#{tag}" for tag in about.tags]
    return [
        short(about.uuid),
        about.cwd if with_directory else f"{about.created_at:%Y-%m-%d %H:%M}",
        f"{about.updated_at:%Y-%m-%d %H:%M}",
        str(about.turn_count),
        one_line(" ".join([about.title or "", *marks]), 60),
        one_line(line.last_message, 60),
    ]
