"""A whole session as text for a pager: what was said, and every tool call with all its output."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.text import Text

from ragforge.events import ToolFinished
from ragforge.show.call_lines import format_full_call
from ragforge.show.console import sanitise
from ragforge.show.markdown import render_markdown
from ragforge.show.screen import Screen
from ragforge.show.sessions import count_turns, name_session

if TYPE_CHECKING:
    from ragforge.domain.conversations import Conversation, Message, ToolCall
    from ragforge.domain.turns import Turn


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
