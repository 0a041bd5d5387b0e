"""Notes in Neo4j."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragforge.adapters.stores.neo4j import note_nodes as nodes
from ragforge.adapters.stores.neo4j import vectors as vector_nodes
from ragforge.adapters.stores.neo4j import words
from ragforge.adapters.stores.neo4j.both import WordSearch, match_both
from ragforge.adapters.stores.neo4j.cypher import Where, is_own_node, is_seen
from ragforge.adapters.stores.neo4j.driver import Database, Transaction
from ragforge.adapters.stores.rows import NOTE
from ragforge.domain.hits import Match
from ragforge.domain.notes import Note, NoteFilter
from ragforge.domain.vectors import Vector
from ragforge.errors import DuplicateId, NoteNotFound
from ragforge.ports.words import Tokeniser


class Neo4jNotes:
    """Keeps the promises of `NoteStore`."""

    def __init__(self, database: Database, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser

    async def add(self, note: Note) -> None:
        row = NOTE.encode(note)

        async def work(tx: Transaction) -> None:
            if note.supersedes is not None:
                await nodes.read(tx, note.supersedes)
            for taken in await nodes.find_known(tx, [note.uuid]):
                raise DuplicateId("note", taken)
            await nodes.put(tx, [row], self._tokeniser)

        await self._database.write(work)

    async def get(self, note_id: str) -> Note:
        return NOTE.decode(await self._database.read(lambda tx: nodes.read(tx, note_id)))

    async def with_ids(self, note_ids: Sequence[str]) -> dict[str, Note]:
        query = f"""MATCH (n:Note) WHERE n.uuid IN $ids AND {is_seen("n")}
                    RETURN {nodes.ROW} AS row"""
        rows = await self._database.column(query, ids=list(note_ids))
        return {row["uuid"]: NOTE.decode(row) for row in rows}

    async def starting_with(self, prefix: str, limit: int = 10) -> list[Note]:
        query = f"""MATCH (n:Note) WHERE n.uuid STARTS WITH $prefix AND {is_seen("n")}
                    RETURN {nodes.ROW} AS row ORDER BY n.uuid LIMIT $limit"""
        rows = await self._database.column(query, prefix=prefix, limit=limit)
        return [NOTE.decode(row) for row in rows]

    async def find(self, where: NoteFilter, limit: int = 50, offset: int = 0) -> list[Note]:
        conditions = _make_filter(where)
        query = f"""MATCH (n:Note) WHERE {conditions} RETURN {nodes.ROW} AS row
                    ORDER BY n.created_ms DESC, n.uuid SKIP $offset LIMIT $limit"""
        rows = await self._database.column(
            query, limit=limit, offset=offset, **conditions.parameters
        )
        return [NOTE.decode(row) for row in rows]

    async def delete(self, note_id: str, force: bool = False) -> None:
        async def work(tx: Transaction) -> None:
            await nodes.check_own(tx, note_id, force)
            await tx.rows("MATCH (n:Note {uuid: $id}) DETACH DELETE n", id=note_id)

        await self._database.write(work)

    async def embed(self, vectors: Mapping[str, Vector]) -> None:
        async def work(tx: Transaction) -> None:
            for note_id in vectors:
                await nodes.check_own(tx, note_id)
            for unknown in await vector_nodes.put(tx, vector_nodes.NOTES, vectors):
                raise NoteNotFound(unknown)

        await self._database.write(work)

    async def to_embed(self, model: str, limit: int) -> list[str]:
        return await self._database.column(
            f"""MATCH (n:Note) WHERE n.created_ms IS NOT NULL AND {is_own_node("n")}
                 AND (n.embedding_model IS NULL OR n.embedding_model <> $model)
               RETURN n.uuid ORDER BY n.created_ms, n.uuid LIMIT $limit""",
            model=model,
            limit=limit,
        )

    async def by_words(self, query: str, where: NoteFilter, limit: int) -> list[Match]:
        wanted = self._tokeniser.query(query)
        return await words.search(
            self._database, "ragforge_note_words", wanted, _make_filter(where), limit
        )

    async def by_vector(
        self, vector: Vector, where: NoteFilter, limit: int, min_score: float = 0.0
    ) -> list[Match]:
        return await self._database.read(
            lambda tx: vector_nodes.find_nearest(
                tx, vector_nodes.NOTES, vector, _make_filter(where), limit, min_score
            )
        )

    async def by_words_and_vector(
        self,
        query: str,
        vector: Vector | None,
        where: NoteFilter,
        limit: int,
        min_score: float = 0.0,
    ) -> tuple[list[Match], list[Match], dict[str, Note]]:
        by_words = WordSearch(
            "ragforge_note_words", self._tokeniser.query(query), _make_filter(where), limit
        )
        held, close, read = await match_both(
            self._database, by_words, vector_nodes.NOTES, vector, min_score, nodes.ROW
        )
        return held, close, {uuid: NOTE.decode(row) for uuid, row in read.items()}


def _make_filter(where: NoteFilter) -> Where:
    conditions = Where().add(is_seen("n"))
    conditions.any_of("project_id", where.project_ids)
    conditions.add("n.conversation_id = $conversation", conversation=where.conversation_id)
    conditions.add("n.text = $text", text=where.text)
    if not where.with_superseded:
        newer = f"MATCH (newer:Note)-[:SUPERSEDES]->(n) WHERE {is_seen('newer')}"
        conditions.add(f"NOT EXISTS {{ {newer} }}")
    if where.tags:
        conditions.add("any(tag IN n.tags WHERE tag IN $tags)", tags=list(where.tags))
    return conditions.between("created_ms", where.since, where.until)
