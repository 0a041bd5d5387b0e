"""The transcript: the whole session in the user's pager, from the prompt and back to it."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

from prompt_toolkit.application import in_terminal

from ragforge.errors import InputError, RagForgeError
from ragforge.show.pager import run_pager
from ragforge.show.transcript import render_transcript

if TYPE_CHECKING:
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
