"""All facts of a Neo4j store as plain records."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ragforge.adapters.stores.neo4j import conversation_bundles as whole_nodes
from ragforge.adapters.stores.neo4j import record_pages, restore
from ragforge.adapters.stores.neo4j.driver import Database
from ragforge.domain.conversation_bundle import ConversationBundle
from ragforge.domain.rows import redact_records
from ragforge.domain.text import check_id, check_text
from ragforge.errors import InputError
from ragforge.ports.archive import Record, RecordKind
from ragforge.ports.words import Tokeniser

_BOOKMARK = "(n:RagForgeBookmark {name: $name})"


class Neo4jArchive:
    """Keeps the promises of `Archive`."""

    def __init__(self, database: Database, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser

    async def count(self, kind: RecordKind) -> int:
        return await self._database.read(lambda tx: record_pages.count(tx, kind))

    async def read(
        self, kind: RecordKind, after: str | None, limit: int
    ) -> list[tuple[str, Record]]:
        return await self._database.read(lambda tx: record_pages.read(tx, kind, after, limit))

    async def write(self, kind: RecordKind, records: Sequence[Record]) -> None:
        if self._database.viewer is not None:
            raise InputError("Records are written by an administrator, who is no viewer.")
        redactor = self._database.redactor
        rows = await asyncio.to_thread(redact_records, kind, records, redactor)
        await self._database.write(lambda tx: restore.write(tx, kind, rows, self._tokeniser))

    async def conversation(
        self, conversation_id: str, with_vectors: bool = True
    ) -> ConversationBundle:
        return await self._database.write(
            lambda tx: whole_nodes.read(tx, conversation_id, with_vectors)
        )

    async def add_conversation(self, whole: ConversationBundle) -> None:
        redactor = self._database.redactor
        await self._database.write(lambda tx: whole_nodes.add(tx, whole, redactor, self._tokeniser))

    async def bookmark(self, name: str) -> str | None:
        # A copy is named by the address of its source, which may hold a password.
        name = self._database.redactor.redact(name)
        found = await self._database.value(f"MATCH {_BOOKMARK} RETURN n.value", name=name)
        return None if found is None else str(found)

    async def set_bookmark(self, name: str, value: str | None) -> None:
        check_id("bookmark", name)
        check_text("bookmark", value)
        redact = self._database.redactor.redact
        name, value = redact(name), redact(value)
        if value is None:
            query = f"MATCH {_BOOKMARK} DELETE n"
        else:
            query = f"MERGE {_BOOKMARK} SET n.value = $value"
        await self._database.write(lambda tx: tx.rows(query, name=name, value=value))
