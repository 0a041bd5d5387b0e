"""Moving all facts of a store to another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ragforge.domain.schema import KINDS

if TYPE_CHECKING:
    from ragforge.domain.conversation_bundle import ConversationBundle

RecordKind: TypeAlias = str
"""The name of a declared kind, or one of those that follow from others."""
_LAST = ("relation", "reference", "mention", "branch", "vector", "job", "forgotten")


def list_record_kinds() -> tuple[RecordKind, ...]:
    """Return all kinds in the order in which they are written: each refers to earlier ones."""
    return (*(name for name in KINDS if name not in _LAST), *_LAST)


Fact: TypeAlias = str | int | float | bool | bytes | list[str] | None
Record: TypeAlias = Mapping[str, Fact]


class Archive(Protocol):
    """All facts of a store as plain records, the same on every engine. Locks stay behind.

    An administrator, who opens a store for no viewer, reads all of them.
    """

    async def count(self, kind: RecordKind) -> int:
        """Return how many records of a kind there are."""

    async def read(
        self, kind: RecordKind, after: str | None, limit: int
    ) -> list[tuple[str, Record]]:
        """Return records with their cursors, in the order of cursors, after the given one."""

    async def write(self, kind: RecordKind, records: Sequence[Record]) -> None:
        """Store records exactly, replacing those that are there; one transaction.

        A conversation that has more messages here keeps its facts: it went on.
        Raises InputError if the store is opened for a viewer: it would not be theirs to write.
        """

    async def conversation(
        self, conversation_id: str, with_vectors: bool = True
    ) -> ConversationBundle:
        """Return everything that is known of a conversation, as it is at one moment.

        Without its vectors it costs a fraction. Raises ConversationNotFound.
        """

    async def add_conversation(self, whole: ConversationBundle) -> None:
        """Store a conversation that is not there yet, with all that belongs to it, at once.

        Its counters are made anew. A note that is there already stays as it is: notes outlive
        the conversations they were made in. It is linked to the conversations that it branched from
        and that branched from it as far as they are there.
        Raises DuplicateId if the id of any of its parts is taken, DimensionMismatch.
        """

    async def bookmark(self, name: str) -> str | None:
        """Return what was last saved under the name."""

    async def set_bookmark(self, name: str, value: str | None) -> None:
        """Save a small text; None removes it."""
