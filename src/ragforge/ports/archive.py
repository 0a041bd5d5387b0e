"""Copying data from one store to another: a conversation with all that belongs to it, or all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeAlias

from ragforge.domain.conversation_bundle import Bundle
from ragforge.domain.schema import KINDS
from ragforge.errors import InputError

RecordKind: TypeAlias = str
"""The name of a declared kind, or of one that is derived from others."""
_LAST = ("relation", "reference", "mention", "branch", "vector", "job", "forgotten")


def list_record_kinds() -> tuple[RecordKind, ...]:
    """Return all kinds in the order in which they are written: each refers to earlier ones."""
    return (*(name for name in KINDS if name not in _LAST), *_LAST)


Fact: TypeAlias = str | int | float | bool | bytes | list[str] | None
Record: TypeAlias = Mapping[str, Fact]


class Archive(Protocol):
    """All data of a store as plain records, the same on every engine, without locks.

    An administrator, who opens a store for no viewer, reads all of them. Records of the kind
    `bookmark` have a name and a value. They are read and written like others, but belong to the
    store and are not copied.
    """

    async def count(self, kind: RecordKind) -> int:
        """Return how many records of a kind there are."""

    async def read(
        self, kind: RecordKind, after: str | None, limit: int
    ) -> list[tuple[str, Record]]:
        """Return records with their cursors, in the order of cursors, after the given one."""

    async def conversation(self, conversation_id: str, with_vectors: bool = True) -> Bundle:
        """Return all records that belong to a conversation, as a consistent snapshot.

        Without their data vectors cost a fraction. Raises ConversationNotFound.
        """

    async def write(self, bundle: Bundle, new: bool = False) -> None:
        """Store records of any kinds exactly, in one transaction.

        They replace those that are there. A conversation that has more messages here keeps its
        facts: it continued. A bookmark without a value is removed. Raises InputError if the store
        is opened for a viewer and other records than bookmarks are written.

        If they are those of a new conversation, which a viewer may write too, nothing is
        replaced: DuplicateId is raised if an id is taken, and a note that is there keeps its facts
        and its vector, for notes outlive the conversations they were made in. The counters are
        those of the messages. Branches are linked as far as their other ends are there.

        Raises DimensionMismatch.
        """


def check_writer(viewer: str | None, bundle: Bundle, new: bool) -> None:
    """Raise InputError if a viewer would replace records: only an administrator may do that."""
    if viewer is not None and not new and bundle.keys() != {"bookmark"}:
        raise InputError(
            "Only an administrator can write records: open the store without a viewer."
        )
