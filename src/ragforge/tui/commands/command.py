"""A command: something that is typed after `/`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

from ragforge.errors import InputError
from ragforge.records import dataclass

if TYPE_CHECKING:
    from ragforge.domain.conversations import Conversation
    from ragforge.tui.terminal import Terminal

    Run: TypeAlias = Callable[[Terminal, str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Command:
    """Its name, its arguments, its purpose, and the function that runs it."""

    name: str
    arguments: str
    purpose: str
    run: Run
    is_turn: bool = False  # it takes a turn: what was done until an interrupt can be resumed


def require_session(terminal: Terminal) -> Conversation:
    """Return the session of the terminal. Raises InputError if it has not begun."""
    if terminal.session is None:
        raise InputError("This session is empty. Ask a question first.")
    return terminal.session
