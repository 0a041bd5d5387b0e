"""Greeting: what a user sees first, and the latest turns of a resumed session."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge import __version__
from ragforge.app.wiring.models import NO_CHAT_MODEL
from ragforge.domain.instants import now
from ragforge.domain.turns import Turn
from ragforge.show.console import fit_line, sanitise
from ragforge.show.project import format_moved
from ragforge.show.sessions import (
    NO_TITLE,
    count_turns,
    describe_session,
    format_age,
    name_session,
    shorten_id,
)

if TYPE_CHECKING:
    from ragforge.domain.conversations import Conversation
    from ragforge.tui.terminal import Terminal

EXCHANGES = 2
KEYS = ("", ", or press 1 now", ", or press 1 or 2 now", ", or press 1, 2 or 3 now")
ANSWER_CHARS = 2_000


def greet(terminal: Terminal, earlier: int, is_first_run: bool) -> None:
    """Show directory, model and earlier sessions in a few lines; nothing is asked."""
    screen, app = terminal.screen, terminal.app
    place = _from_home(app.cwd)
    model = terminal.app.model or "no model"
    facts = (f"RagForge {__version__}", place, model, "/help")
    screen.say(screen.signs.between.join(facts), "bold")
    if moved := format_moved(app.project):
        screen.note(moved)
    if is_first_run:
        screen.note(f"Memory is kept in {app.settings.store.url}. {_describe_reading(terminal)}")
    elif earlier:
        many = "1 earlier session" if earlier == 1 else f"{earlier:,} earlier sessions"
        screen.note(f"{many} here: ragforge -c, -r{KEYS[len(terminal.offered)]}")
        for line in format_offers(terminal.offered, now(), screen.out.width):
            screen.note(line)
    if terminal.app.model is None:
        screen.note(NO_CHAT_MODEL)


def format_offers(offered: Sequence[Conversation], today: datetime, width: int) -> list[str]:
    """Return the sessions that one key resumes, a line each: key, age, turns, what about."""
    facts = [(format_age(one.updated_at, today), count_turns(one)) for one in offered]
    ages, turns = (
        (max(map(len, column)) for column in zip(*facts, strict=True)) if facts else (0, 0)
    )
    heads = [
        f"  {key}  {age:<{ages}}  {many:<{turns}}  " for key, (age, many) in enumerate(facts, 1)
    ]
    rest = [max(width - len(head) - 1, 10) for head in heads]
    return [h + describe_session(one, r) for h, one, r in zip(heads, offered, rest, strict=True)]


def _describe_reading(terminal: Terminal) -> str:
    code = terminal.app.code
    if not code.is_kept_current:
        return "The code is not indexed: brain.ingest_automatically is off."
    if not code.is_read:
        return code.trust.describe_unread()
    return "The code of this project is read in the background."


async def show_latest(terminal: Terminal, session: Conversation) -> None:
    """Show the title of a session and what was said in it last."""
    screen = terminal.screen
    screen.say(f"Session {name_session(session)}, {count_turns(session)}", "bold")
    turns = await terminal.app.sessions.latest_turns(session, EXCHANGES)
    for turn in turns:
        _show(terminal, turn)
    if turns and _can_be_resumed(terminal, turns[-1]):
        screen.say("The last question has no complete answer: /retry answers it.", "yellow")


def _show(terminal: Terminal, turn: Turn) -> None:
    screen = terminal.screen
    screen.say()
    screen.say(f"{screen.signs.prompt} {fit_line(turn.user.content, 500)}", "cyan")
    if turn.tool_calls:
        many = len(turn.tool_calls)
        screen.note("1 tool call" if many == 1 else f"{many} tool calls")
    said = turn.answer or "\n".join(m.content for m in turn.replies if m.content.strip())
    if len(said) > ANSWER_CHARS:
        said = f"{said[:ANSWER_CHARS].rstrip()} …"
    if turn.answer:
        from ragforge.show.markdown import render_markdown  # slow to load

        screen.out.print(render_markdown(said))
    elif said:
        screen.say(sanitise(said), "dim")


def _can_be_resumed(terminal: Terminal, turn: Turn) -> bool:
    """Tell whether a turn has no answer; without a model, what was found is the answer."""
    return not turn.is_answered and (terminal.app.model is not None or not turn.replies)


def format_goodbye(session: Conversation | None) -> str | None:
    """Return how to resume the session, if there is one."""
    if session is None or not session.uuid:
        return None
    title = fit_line(session.title or NO_TITLE, 60)
    shown = "" if title == NO_TITLE else f" ({title})"
    return f"Resume with: ragforge -r {shorten_id(session.uuid)}{shown}"


def _from_home(path: Path) -> str:
    try:
        return f"~/{path.relative_to(Path.home())}" if path != Path.home() else "~"
    except ValueError:
        return str(path)
