"""The transcript: the whole session in the user's pager, from the prompt and back to it."""

from __future__ import annotations

import asyncio
import io
import signal
from collections.abc import Sequence
from typing import TYPE_CHECKING

from prompt_toolkit.application import in_terminal
from rich.console import Console, Group
from rich.text import Text

from ragforge.errors import InputError, RagForgeError
from ragforge.events import ToolFinished
from ragforge.show.call_lines import format_full_call
from ragforge.show.console import sanitise
from ragforge.show.markdown import render_markdown
from ragforge.show.pager import run_pager
from ragforge.show.screen import Screen
from ragforge.show.sessions import count_turns, name_session

if TYPE_CHECKING:
    from ragforge.domain.conversations import Conversation, Message, ToolCall
    from ragforge.domain.turns import Turn
    from ragforge.tui.terminal import Terminal

HINT = "; /expand shows single tool calls"
EMPTY = "This session is empty. Ask a question first."


async def show_session(terminal: Terminal) -> None:
    """Show the session in the pager; the prompt and its text are there again afterwards."""
    async with in_terminal():
        try:
            await _show(terminal)
        except RagForgeError as error:
            terminal.screen.problem(str(error))


async def _show(terminal: Terminal) -> None:
    if terminal.session is None:
        raise InputError(EMPTY)
    sessions = terminal.app.sessions
    session = await sessions.load(terminal.session.uuid)
    turns = await sessions.load_turns(session, 0, await sessions.count_turns(session))
    text = await asyncio.to_thread(render_transcript, session, turns, terminal.screen)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the pager
    try:
        await asyncio.to_thread(run_pager, text, HINT)
    finally:
        signal.signal(signal.SIGINT, before)


def render_transcript(session: Conversation, turns: Sequence[Turn], screen: Screen) -> str:
    """Return a session as it is stored, with the colours and the width of a screen."""
    text = io.StringIO()
    system = screen.out.color_system
    out = Console(
        file=text,
        width=screen.out.width,
        force_terminal=system is not None,
        color_system=system,  # type: ignore[arg-type] # a name that rich has returned
        markup=False,
        highlight=False,
        emoji=False,
    )
    page = Screen(out, screen.signs)
    page.say(f"Session {name_session(session)}, {count_turns(session)}", "bold")
    for turn in turns:
        page.say()
        page.note(f"Turn {turn.user.turn_index}  {turn.user.timestamp:%Y-%m-%d %H:%M}")
        page.say(f"{page.signs.prompt} {turn.user.content}", "cyan")
        for message in turn.replies:
            _show_message(page, message)
    return text.getvalue()


def _show_message(page: Screen, message: Message) -> None:
    if message.content.strip():
        page.say()
        if message.role == "assistant":
            page.out.print(render_markdown(message.content))
        else:
            page.out.print(Text(sanitise(message.content), style="dim"))
    for call in message.tool_calls:
        page.say()
        page.out.print(Group(*format_full_call(_as_finished(call), page)))


def _as_finished(call: ToolCall) -> ToolFinished:
    """Return a stored call as an event; one without a result was interrupted."""
    given, result = (call.tool_name, call.arguments), call.result
    if result is None:
        return ToolFinished("", *given, None, False, "interrupted", call.duration_ms)
    return ToolFinished("", *given, result.result, call.success, result.error, call.duration_ms)
