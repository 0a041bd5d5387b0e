"""Records: items of every kind, stored, found and changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ragforge.domain.kinds import Data, Filter, Kind


class Records(Protocol):
    """Items by their ids and by filters, of the kinds that are declared in `domain/schema.py`.

    Every method that writes is one transaction: durable when it returns, without a trace when it
    raises. Input that cannot be stored exactly raises an InputError. An unknown id raises the
    error of its kind, such as NoteNotFound.
    """

    async def get(self, kind: Kind[Data, Any], item_id: str) -> Data:
        """Return an item. Raises a NotFound if the id is unknown."""

    async def get_many(self, kind: Kind[Data, Any], ids: Sequence[str]) -> dict[str, Data]:
        """Return items by their ids; unknown ids are left out."""

    async def find(
        self,
        kind: Kind[Data, Filter],
        where: Filter,
        limit: int | None = None,
        offset: int = 0,
        order: Sequence[str] = (),
    ) -> list[Data]:
        """Return the items that pass a filter, in the order of their kind.

        Conversations: the last active first. Notes: the newest first. Summaries: oldest range
        first within a conversation; their dates are those of creation. Jobs: the oldest first,
        without those of other authors, which do not exist for the viewer. Files: by path. Scopes:
        by file and line, the outer before the inner. Ties by id.
        Another `order` names columns: after "-" from the highest, which those without a value
        precede.
        """

    async def put(self, kind: Kind[Data, Any], *items: Data) -> None:
        """Store new items; a checkout, a project or a usage takes the place of the one with its id.

        Messages, summaries, jobs, files and scopes are stored by their own ports: InputError. The
        counters of a conversation start at zero. Raises DuplicateId if an id is taken, or if
        another project has the path on its host, NoteNotFound if a note supersedes an unknown one,
        NotAuthor if an item would belong to another author's conversation.
        """

    async def update(
        self,
        kind: Kind[Data, Any],
        item_id: str,
        change: Callable[[Data], Data],
        force: bool = False,
    ) -> Data:
        """Replace an item by the result of a function, and return it.

        The function may be called again, if others write meanwhile. To change a conversation is
        no activity: `updated_at` stays. Its visibility is also that of its messages, summaries
        and the notes its author made in it.
        Raises a NotFound, NotAuthor if it is another author's, unless forced; InputError if it
        has no author and is to be private.
        """

    async def delete(self, kind: Kind[Any, Any], item_id: str, force: bool = False) -> None:
        """Delete an item with all that belongs to it: vectors, index entries, and of these kinds:

        - conversation: messages and summaries. Its branches stay, on their own. If it was imported
          from another agent, its ids are remembered, so that it does not come back.
        - note: one that it superseded is found again.
        - summary: any L2 built on it, too. What they covered is eligible again.
        - project: files, scopes and relations. An engine may do so in several transactions. If
          that breaks off, what is left is a project whose files are all read again by the next
          ingestion; deleting it again ends it.

        Raises a NotFound, and NotAuthor if it is another author's, unless forced.
        """
