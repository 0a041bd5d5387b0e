"""Moving all facts of a store to another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, TypeAlias, get_args

RecordKind: TypeAlias = Literal[
    "conversation",
    "message",
    "tool_call",
    "tool_result",
    "summary",
    "project",
    "file",
    "scope",
    "relation",
    "reference",
    "mention",
    "branch",
    "vector",
    "job",
]
RECORD_KINDS: tuple[RecordKind, ...] = get_args(RecordKind)
"""In the order in which they are written: each refers only to earlier ones."""

Fact: TypeAlias = str | int | float | bool | bytes | list[str] | None
Record: TypeAlias = Mapping[str, Fact]


class Archive(Protocol):
    """All facts of a store as plain records, the same on every engine. Locks stay behind."""

    async def count(self, kind: RecordKind) -> int:
        """Return how many records of a kind there are."""

    async def read(
        self, kind: RecordKind, after: str | None, limit: int
    ) -> list[tuple[str, Record]]:
        """Return records with their cursors, in the order of cursors, after the given one."""

    async def write(self, kind: RecordKind, records: Sequence[Record]) -> None:
        """Store records exactly, replacing those that are there; one transaction."""

    async def bookmark(self, name: str) -> str | None:
        """Return what was last saved under the name."""

    async def set_bookmark(self, name: str, value: str | None) -> None:
        """Save a small text; None removes it."""
