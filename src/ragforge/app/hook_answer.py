"""Hook answer: the context of a call as far as it has been found.

The search offers a better text each time it has found more. At the deadline another thread gives
the last one, so that a slow search still gives something.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ragforge.app.hook_session import ReceivedEntries


class Entry(NamedTuple):
    """A part of a context, and the ids of what a session has received with it."""

    text: str
    ids: tuple[str, ...] = ()
    has_own_room: bool = False  # it takes nothing from the budget of the others


class HookAnswer:
    """What is given to an agent if time is up now."""

    def __init__(self) -> None:
        self.received: ReceivedEntries | None = None  # once the session is known
        self.doing = "starting"  # what a late answer was late with
        self.why = ""  # the reason why it is empty
        self._offered = Entry("")

    def was_given(self, entry_id: str) -> bool:
        """Tell whether the session has already received an entry."""
        return self.received is not None and self.received.was_given(entry_id)

    def offer(self, text: str, ids: Iterable[str] = ()) -> None:
        """Set the whole text that is given if nothing better is found, and the ids in it."""
        self._offered = Entry(text, tuple(ids))  # in one step: another thread may read it

    @property
    def offered(self) -> Entry:
        """The last text that was offered."""
        return self._offered

    def note_given(self, ids: Sequence[str]) -> None:
        """Remember what the session has received now."""
        if self.received is not None:
            self.received.note_given(ids)
