"""Recall in SQLite: finding turns and conversations by words and by meaning."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

import apsw

from ragforge.adapters.stores.sqlite import conversation_rows, words
from ragforge.adapters.stores.sqlite import messages as message_rows
from ragforge.adapters.stores.sqlite import vectors as vector_rows
from ragforge.adapters.stores.sqlite.branching import add_parts, find_parts
from ragforge.adapters.stores.sqlite.common_words import CommonWords
from ragforge.adapters.stores.sqlite.database import Database
from ragforge.adapters.stores.sqlite.sql import (
    Where,
    add_any,
    as_json,
    select_column,
    select_value,
)
from ragforge.adapters.stores.sqlite.vectors import VectorSearch
from ragforge.adapters.stores.sqlite.viewers import (
    check_own,
    has_others,
    hides_any,
    is_own,
    is_own_row,
)
from ragforge.concurrency import gather_or_cancel
from ragforge.domain.conversations import ConversationFilter, MemoryFilter
from ragforge.domain.hits import Match, WordMatches
from ragforge.domain.instants import to_epoch_ms
from ragforge.domain.vectors import Vector
from ragforge.errors import MessageNotFound
from ragforge.ports.conversations import OwnedTurns
from ragforge.ports.words import Tokeniser

if TYPE_CHECKING:
    from ragforge.adapters.stores.sqlite.turn_words import TurnWords


class TurnSearch:
    """The part of `ConversationStore` that searches."""

    def __init__(self, database: Database, tokeniser: Tokeniser, vectors: VectorSearch) -> None:
        self._database = database
        self._tokeniser = tokeniser
        self._vectors = vectors
        self._common = CommonWords("turn_vocabulary")

    async def embed_turns(self, vectors: Mapping[str, Vector]) -> None:
        def work(connection: apsw.Connection) -> None:
            owners = []
            own = is_own(self._database.viewer)
            statement = f"SELECT id FROM turn WHERE message_id = ? AND {own}"
            for message_id, vector in vectors.items():
                turn = select_value(connection, statement, (message_id,))
                if turn is None:
                    raise MessageNotFound(message_id)
                owners.append((turn, vector))
            vector_rows.put(connection, "turn", owners)

        await self._database.write(work)

    async def turns_to_embed(self, model: str, limit: int) -> list[str]:
        statement = f"""
            SELECT t.message_id FROM turn t WHERE NOT EXISTS (
              SELECT 1 FROM vector v JOIN model m ON m.id = v.model
              WHERE v.kind = 'turn' AND v.owner = t.id AND m.name = ?)
              AND {is_own(self._database.viewer, "t.conversation_id")}
            ORDER BY t.started_ms, t.id LIMIT ?"""
        return await self._database.read(lambda c: select_column(c, statement, (model, limit)))

    async def count_turns_to_embed(self, model: str) -> tuple[int, int]:
        viewer = self._database.viewer

        def work(connection: apsw.Connection) -> tuple[int, int]:
            turns, own = "turn", "1"
            vectors = "vector v JOIN model m ON m.id = v.model"
            if has_others(connection, viewer):
                own = is_own(viewer, "t.conversation_id")
                turns, vectors = "turn t", f"{vectors} JOIN turn t ON t.id = v.owner"
            every = select_value(connection, f"SELECT count(*) FROM {turns} WHERE {own}")
            embedded = f"""
                SELECT count(*) FROM {vectors} WHERE v.kind = 'turn' AND m.name = ? AND {own}"""
            return every - select_value(connection, embedded, (model,)), every

        return await self._database.read(work)

    async def embed_conversation(self, conversation_id: str, vector: Vector) -> None:
        def work(connection: apsw.Connection) -> None:
            check_own(connection, self._database.viewer, "conversation", conversation_id)
            row = conversation_rows.read(connection, conversation_id)
            vector_rows.put(connection, "conversation", [(row["id"], vector)])

        await self._database.write(work)

    async def turns_by_words(self, query: str, where: MemoryFilter, limit: int) -> list[Match]:
        return await self._database.read(lambda c: self._turn_words(c, query, where).best(limit))

    async def read_by_words(
        self, query: str, where: MemoryFilter, limit: int, read: int
    ) -> tuple[list[Match], OwnedTurns]:
        def work(connection: apsw.Connection) -> tuple[list[Match], OwnedTurns]:
            found = self._turn_words(connection, query, where).best(limit)
            first = [match.id for match in found[: max(read, 0)]]
            return found, message_rows.read_turns(connection, first)

        return await self._database.read(work)

    async def match_words(
        self, query: str, where: MemoryFilter, limit: int, reach: int
    ) -> WordMatches:
        return await self._database.read(
            lambda c: self._turn_words(c, query, where).match(limit, reach)
        )

    def _turn_words(
        self, connection: apsw.Connection, query: str, where: MemoryFilter
    ) -> TurnWords:
        from ragforge.adapters.stores.sqlite.turn_words import TurnWords  # storing needs no arrays

        conditions = _make_turn_filter(connection, where)
        hides = hides_any(connection, self._database.viewer)
        is_filtered = conditions or hides
        passing = self._vectors.passing(connection, "turn", conditions) if is_filtered else None
        wanted = self._tokeniser.query(query)
        return TurnWords(connection, wanted, conditions, passing, self._common, hides)

    async def match_turns(
        self,
        query: str,
        where: MemoryFilter,
        limit: int,
        reach: int,
        vector: Vector | None,
        nearest: int,
        min_score: float = 0.0,
    ) -> tuple[WordMatches, list[Match]]:
        if vector is None:
            return await self.match_words(query, where, limit, reach), []
        return await gather_or_cancel(
            self.match_words(query, where, limit, reach),
            self.turns_by_vector(vector, where, nearest, min_score),
        )

    async def turns_by_vector(
        self, vector: Vector, where: MemoryFilter, limit: int, min_score: float = 0.0
    ) -> list[Match]:
        def work(connection: apsw.Connection) -> list[tuple[str, float]]:
            conditions = _make_turn_filter(connection, where)
            return self._vectors.nearest(
                connection, "turn", "o.message_id", vector, conditions, limit, min_score
            )

        return [Match(*row) for row in await self._database.read(work)]

    async def conversations_by_vector(
        self, vector: Vector, where: ConversationFilter, limit: int, min_score: float = 0.0
    ) -> list[Match]:
        conditions = self._make_filter(where)
        found = await self._database.read(
            lambda c: self._vectors.nearest(
                c, "conversation", "o.uuid", vector, conditions, limit, min_score
            )
        )
        return [Match(*row) for row in found]

    def _make_filter(self, where: ConversationFilter) -> Where:
        conditions = _make_filter(where)
        return conditions.add(is_own_row(self._database.viewer, "o")) if where.own else conditions


def _to_ms(moment: datetime | None) -> int | None:
    return None if moment is None else to_epoch_ms(moment)


def _make_filter(where: ConversationFilter) -> Where:
    conditions = Where().add("o.cwd = ?", where.cwd)
    add_any(conditions, "o.project_id", where.project_ids)
    conditions.add("o.status = ?", where.status).add("o.agent = ?", where.agent)
    conditions.add("o.parent_id = ?", where.parent_id)
    conditions.add("o.uuid IN (SELECT target FROM branch WHERE source = ?)", where.branch_of)
    conditions.add("o.uuid IN (SELECT source FROM branch WHERE target = ?)", where.origin_of)
    conditions.add("o.updated_ms >= ?", _to_ms(where.since)).add(
        "o.updated_ms <= ?", _to_ms(where.until)
    )
    if where.tags:
        any_of = "SELECT 1 FROM json_each(o.tags) t JOIN json_each(?) w ON w.value = t.value"
        conditions.add(f"EXISTS ({any_of})", as_json(where.tags))
    return conditions


def _make_turn_filter(connection: apsw.Connection, where: MemoryFilter) -> Where:
    conditions, inside = Where(), where.conversation_id
    parts = [] if inside is None else find_parts(connection, inside)
    if parts:
        add_parts(conditions, "o", parts)
    add_any(conditions, "o.project_id", where.project_ids)
    conditions.add("o.started_ms >= ?", _to_ms(where.since)).add(
        "o.started_ms <= ?", _to_ms(where.until)
    )
    if parts:
        conditions.keys.append([words.make_key("c", one) for one, _ in parts])
    elif where.project_ids is not None:
        conditions.keys.append([words.make_key("p", one) for one in where.project_ids])
    return conditions
