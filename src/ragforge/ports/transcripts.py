"""Where it is known how far other agents' transcripts were taken in."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ragforge.domain.transcripts import IntakeStep, StoredIds, TranscriptCursor


class TranscriptStore(Protocol):
    """Takes in what other agents wrote down. Cursors are the viewer's own.

    Messages are known by their ids, which follow from those of the agent: nothing is stored
    twice, and what was deleted does not come back.
    """

    async def stamps(self, host: str) -> dict[str, dict[str, str]]:
        """Return agent → path → stamp of the transcripts on a machine, as they were last read."""

    async def cursor(self, agent: str, host: str, path: str) -> TranscriptCursor:
        """Return how far a transcript was taken in; a cursor of revision 0 if it was not."""

    async def look_up(self, messages: Collection[str], conversations: Collection[str]) -> StoredIds:
        """Return where messages are, and the newest turns of these and of other conversations.

        What the viewer deleted, and what somebody else shares, is not new either: such a message
        is in the conversation FORGOTTEN, before its first turn; such a conversation has no turn.
        """

    async def take_in(self, cursor: TranscriptCursor, steps: Sequence[IntakeStep]) -> bool:
        """Apply steps in their order, and move the cursor, in one transaction.

        Returns False, and changes nothing, if somebody else moved the cursor meanwhile, or stored
        one of the messages: the cursor is to be read anew, and what follows it.

        A branch shares the turns before it with its origin: they are stored, counted and found
        there. Of a turn that goes on differently in the branch it has a copy, whose ids follow
        from those of the originals and of the branch. Steps for what was deleted, or is somebody
        else's, are left out. A turn that grows loses its vector and its summary, and its links
        to code are to be made.
        """

    async def share_copies(self) -> int:
        """Remove the copies of turns that older versions stored in branches of the viewer's.

        The branches share the originals from then on. Returns how many branches were changed.
        """
