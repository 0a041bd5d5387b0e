"""Sessions: how one is named, chosen and listed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ragforge.show.console import one_line, print_table

if TYPE_CHECKING:
    from ragforge.domain.conversations import Conversation
    from ragforge.memory.sessions import SessionLine

NO_TITLE = "(no title)"
DAYS = 30


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


def age_of(moment: datetime, today: datetime) -> str:
    """Return how long ago something was, in one or two words; after a month, the date."""
    minutes = int((today - moment).total_seconds()) // 60
    if minutes < 1:
        return "just now"
    if minutes < 60:
        return f"{minutes} min ago"
    if minutes < 24 * 60:
        return f"{minutes // 60} h ago"
    days = minutes // (24 * 60)
    if days > DAYS:
        return f"{moment:%Y-%m-%d}"
    return "1 day ago" if days == 1 else f"{days} days ago"


def about_of(conversation: Conversation, width: int) -> str:
    """Return a session's title, and after it what the session was about, on one line."""
    title = one_line(conversation.title or NO_TITLE, 60)
    summary = conversation.summary or ""
    return one_line(f"{title}: {summary}" if summary.strip() else title, width)


def show_lines(lines: Sequence[SessionLine], with_directory: bool) -> None:
    """Show sessions as a table, with their directory or the time they began."""
    second = "Directory" if with_directory else "Started"
    texts = ["Title", "About", "Last message"]
    with_summary = any(line.conversation.summary for line in lines)
    if not with_summary:
        texts.remove("About")
    rows = [_row(line, with_directory, with_summary) for line in lines]
    columns = ["Session", second, "Last active", "Turns", *texts]
    print_table(columns, rows, one_line_each=texts)


def _row(line: SessionLine, with_directory: bool, with_summary: bool) -> list[str]:
    about = line.conversation
    marks = ["(archived)"] if about.status == "archived" else []
    marks += [f"#{tag}" for tag in about.tags]
    return [
        short(about.uuid),
        about.cwd if with_directory else f"{about.created_at:%Y-%m-%d %H:%M}",
        f"{about.updated_at:%Y-%m-%d %H:%M}",
        str(about.turn_count),
        one_line(" ".join([about.title or "", *marks]), 60),
        *([one_line(about.summary or "", 80)] if with_summary else []),
        one_line(line.last_message, 60),
    ]
