"""Sessions, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from ragforge.domain import conversations
from ragforge.domain.conversations import SHORT_ID, name_other_agent
from ragforge.errors import ConversationNotFound
from ragforge.show.console import fit_line, open_console, print_note, print_table, sanitise
from ragforge.show.fields import Fields, round_score

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.app.features.sessions import SessionLine, SimilarConversation
    from ragforge.domain.conversations import Conversation
    from ragforge.domain.hits import HistoryHit

NO_TITLE = "(no title)"
DAYS = 30
WIDEST = 100


async def load_sessions(app: App, hits: Iterable[HistoryHit]) -> dict[str, Conversation]:
    """Return the sessions of hits by their ids; deleted ones are left out."""
    found = {}
    for uuid in dict.fromkeys(hit.conversation_id for hit in hits if hit.conversation_id):
        with suppress(ConversationNotFound):  # a note outlives its session
            found[uuid] = await app.sessions.load(uuid)
    return found


def shorten_id(uuid: str) -> str:
    """Return as much of an id as is shown."""
    return uuid[:SHORT_ID]


def name_session(conversation: Conversation) -> str:
    """Return a session's short id and title, for a sentence."""
    title = fit_line(conversation.title or "", 60)
    return f"{shorten_id(conversation.uuid)} ({title})" if title else shorten_id(conversation.uuid)


def count_turns(conversation: Conversation) -> str:
    """Return how many turns a session has, in words."""
    return "1 turn" if conversation.turn_count == 1 else f"{conversation.turn_count} turns"


def format_age(moment: datetime, today: datetime) -> str:
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


def describe_session(conversation: Conversation, width: int) -> str:
    """Return a session's title, and after it what the session was about, on one line."""
    title = fit_line(conversation.title or NO_TITLE, 60)
    summary = conversation.summary or ""
    return fit_line(f"{title}: {summary}" if summary.strip() else title, width)


def name_other(author: str | None, viewer: str | None) -> str:
    """Return the name of an author, empty if it is the viewer, who is given by the key."""
    return fit_line(conversations.name_other(author, viewer), 40)


def show_sessions(
    lines: Sequence[SessionLine], with_directory: bool, viewer: str | None = None
) -> None:
    """Show sessions as a table, with their directory or the time they began, and who else's."""
    second = "Directory" if with_directory else "Started"
    texts = ["Title", "About", "Last message"]
    with_summary = any(line.conversation.summary for line in lines)
    if not with_summary:
        texts.remove("About")
    rows = [_make_row(line, with_directory, with_summary) for line in lines]
    columns = ["Session", second, "Last active", "Turns", *texts]
    others = [name_other(line.conversation.author, viewer) for line in lines]
    if any(others):
        columns.insert(1, "Author")
        for row, author in zip(rows, others, strict=True):
            row.insert(1, author)
    agents = [name_other_agent(line.conversation.agent) for line in lines]
    if any(agents):
        columns.insert(1, "Agent")
        for row, agent in zip(rows, agents, strict=True):
            row.insert(1, fit_line(agent, 40))
    print_table(columns, rows, one_line_each=texts)


def _make_row(line: SessionLine, with_directory: bool, with_summary: bool) -> list[str]:
    about = line.conversation
    marks = ["(archived)"] if about.status == "archived" else []
    marks += ["(private)"] if about.visibility == "private" else []
    marks += [f"#{tag}" for tag in about.tags]
    return [
        shorten_id(about.uuid),
        about.cwd if with_directory else f"{about.created_at:%Y-%m-%d %H:%M}",
        f"{about.updated_at:%Y-%m-%d %H:%M}",
        str(about.turn_count),
        fit_line(" ".join([about.title or "", *marks]), 60),
        *([fit_line(about.summary or "", 80)] if with_summary else []),
        fit_line(line.last_message, 60),
    ]


session_to_json = Fields(
    "conversation_id=uuid title summary status cwd project_path tags turn_count created_at"
    " updated_at author agent agent_version agent_session git_branch parent_id visibility"
)
_SIMILARITY = Fields(
    "score found_by turn_index=turn.user.turn_index question=turn.user.content", score=round_score
)


def line_to_json(line: SessionLine) -> dict[str, object]:
    return {**session_to_json(line.conversation), "last_message": line.last_message}


def similar_to_json(one: SimilarConversation) -> dict[str, object]:
    return session_to_json(one.conversation) | _SIMILARITY(one)


def show_similar(
    found: Sequence[SimilarConversation], everywhere: bool, viewer: str | None = None
) -> None:
    """Show sessions that were about the same thing, and the turn that says most."""
    from rich.text import Text

    if not found:
        print_note("Nothing found." if everywhere else "Nothing found. Try --all.")
        return
    out = open_console()
    for one in found:
        about = one.conversation
        head = Text(shorten_id(about.uuid), style="cyan")
        head.append(f"  {one.score:.2f}  {', '.join(one.found_by)}", style="dim")
        head.append(f"  {about.updated_at:%Y-%m-%d %H:%M}", style="dim")
        if everywhere:
            head.append(f"  {sanitise(about.cwd)}", style="dim")
        if other := name_other(about.author, viewer):
            head.append(f"  {other}", style="magenta")
        if agent := name_other_agent(about.agent):
            head.append(f"  {fit_line(agent, 40)}", style="magenta")
        head.append(f"  {fit_line(about.title or NO_TITLE, WIDEST)}", style="bold")
        out.print(head)
        if about.summary:
            out.print(f"  {fit_line(about.summary, WIDEST)}")
        if one.turn is not None:
            out.print(f"  turn {one.turn.user.turn_index}: ", style="dim", end="")
            out.print(fit_line(one.turn.user.content, WIDEST))
