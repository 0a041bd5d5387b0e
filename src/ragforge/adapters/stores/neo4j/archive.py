"""All facts of a Neo4j store as plain records."""

from __future__ import annotations

import asyncio

from ragforge.adapters.stores.neo4j import record_pages, restore
from ragforge.adapters.stores.neo4j.driver import Database
from ragforge.domain.conversation_bundle import Bundle, clean_bundle
from ragforge.ports.archive import Record, RecordKind, check_writer
from ragforge.ports.words import Tokeniser


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

    async def conversation(self, conversation_id: str, with_vectors: bool = True) -> Bundle:
        return await self._database.write(
            lambda tx: record_pages.read_conversation(tx, conversation_id, with_vectors)
        )

    async def write(self, bundle: Bundle, new: bool = False) -> None:
        check_writer(self._database.viewer, bundle, new)
        rows = await asyncio.to_thread(clean_bundle, bundle, self._database.redactor, new)
        await self._database.write(lambda tx: restore.write(tx, rows, new, self._tokeniser))
