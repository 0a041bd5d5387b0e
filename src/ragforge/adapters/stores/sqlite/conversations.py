"""Conversations in SQLite."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from operator import itemgetter
from typing import TYPE_CHECKING

import apsw

from ragforge.adapters.stores.rows import CONVERSATION
from ragforge.adapters.stores.sqlite import conversation_rows, words
from ragforge.adapters.stores.sqlite import messages as message_rows
from ragforge.adapters.stores.sqlite import vectors as vector_rows
from ragforge.adapters.stores.sqlite.branching import copy_until
from ragforge.adapters.stores.sqlite.common_words import CommonWords
from ragforge.adapters.stores.sqlite.database import Database
from ragforge.adapters.stores.sqlite.references import References
from ragforge.adapters.stores.sqlite.sql import (
    Where,
    add_any,
    as_json,
    insert,
    select,
    select_column,
    select_value,
    upsert,
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
from ragforge.domain.conversations import (
    Conversation,
    ConversationChanges,
    ConversationFilter,
    MemoryFilter,
    Message,
    ToolCall,
    apply_changes,
)
from ragforge.domain.hits import Match, WordMatches
from ragforge.domain.instants import to_epoch_ms
from ragforge.domain.text import MAX_ID_CHARS, Json, check_text
from ragforge.domain.vectors import Vector
from ragforge.errors import MessageNotFound
from ragforge.ports.words import Tokeniser

if TYPE_CHECKING:
    from ragforge.adapters.stores.sqlite.turn_words import TurnWords


class SqliteConversations(References):
    """Keeps the promises of `ConversationStore`."""

    def __init__(self, database: Database, tokeniser: Tokeniser, vectors: VectorSearch) -> None:
        self._database = database
        self._tokeniser = tokeniser
        self._vectors = vectors
        self._common = CommonWords("turn_vocabulary")

    async def create(self, conversation: Conversation) -> None:
        row = CONVERSATION.encode(
            replace(conversation, message_count=0, turn_count=0, total_chars=0)
        )
        await self._database.write(lambda c: insert(c, "conversation", row))

    async def get(self, conversation_id: str) -> Conversation:
        row = await self._database.read(lambda c: conversation_rows.read(c, conversation_id))
        return CONVERSATION.decode(row)

    async def starting_with(self, prefix: str, limit: int = 10) -> list[Conversation]:
        check_text("prefix", prefix)
        # The bounds let the index find them; an id may hold any character after the prefix.
        statement = """
            SELECT * FROM conversation WHERE uuid >= :prefix AND uuid < :prefix || :last
              AND substr(uuid, 1, length(:prefix)) = :prefix
            ORDER BY uuid LIMIT :limit"""
        bindings = {"prefix": prefix, "last": _LAST * MAX_ID_CHARS, "limit": limit}
        return await self._database.read(
            lambda c: [CONVERSATION.decode(row) for row in select(c, statement, bindings)]
        )

    async def find(
        self, where: ConversationFilter, limit: int = 50, offset: int = 0
    ) -> list[Conversation]:
        conditions = self._make_filter(where)
        statement = f"""
            SELECT * FROM conversation o WHERE {conditions}
            ORDER BY updated_ms DESC, uuid LIMIT ? OFFSET ?
        """
        bindings = (*conditions.bindings, limit, offset)
        return await self._database.read(
            lambda c: [CONVERSATION.decode(row) for row in select(c, statement, bindings)]
        )

    async def update(
        self, conversation_id: str, changes: ConversationChanges, force: bool = False
    ) -> Conversation:
        def work(connection: apsw.Connection) -> Conversation:
            self._check_own(connection, conversation_id, force)
            result = apply_changes(
                CONVERSATION.decode(conversation_rows.read(connection, conversation_id)), changes
            )
            row = CONVERSATION.encode(result)
            upsert(connection, "conversation", row, ["uuid"])
            if changes.visibility is not None:
                conversation_rows.set_visibility(connection, row)
            return result

        return await self._database.write(work)

    async def delete(self, conversation_id: str, force: bool = False) -> None:
        def work(connection: apsw.Connection) -> None:
            self._check_own(connection, conversation_id, force)
            connection.execute("DELETE FROM conversation WHERE uuid = ?", (conversation_id,))

        await self._database.write(work)

    async def append(self, conversation_id: str, messages: Sequence[Message]) -> list[Message]:
        def work(connection: apsw.Connection) -> list[Message]:
            self._check_own(connection, conversation_id)
            row = conversation_rows.read(connection, conversation_id)
            placed = message_rows.add(connection, row, messages, self._tokeniser)
            conversation_rows.count(connection, conversation_id, placed)
            return placed

        return await self._database.write(work)

    async def finish_calls(self, message_id: str, calls: Sequence[ToolCall]) -> Message:
        def work(connection: apsw.Connection) -> Message:
            row = message_rows.read_row(connection, message_id, self._database.viewer)
            self._check_own(connection, row["conversation_id"])
            done = message_rows.finish_calls(connection, row, calls, self._tokeniser)
            connection.execute(
                "UPDATE conversation SET total_chars = total_chars + ? WHERE uuid = ?",
                (done.char_count - row["char_count"], row["conversation_id"]),
            )
            return done

        return await self._database.write(work)

    async def message(self, message_id: str) -> Message:
        def work(connection: apsw.Connection) -> Message:
            return message_rows.load(connection, [message_rows.read_row(connection, message_id)])[0]

        return await self._database.read(work)

    async def messages(
        self,
        conversation_id: str,
        first_turn: int | None = None,
        last_turn: int | None = None,
        limit: int | None = None,
        offset: int = 0,
        with_receipts: bool = True,
    ) -> list[Message]:
        columns = "m.*" if with_receipts else message_rows.WITHOUT_RECEIPT
        where = Where().add("conversation_id = ?", conversation_id)
        where.add("turn_index >= ?", first_turn).add("turn_index <= ?", last_turn)
        order = "ORDER BY position LIMIT ? OFFSET ?"
        bindings = (*where.bindings, -1 if limit is None else limit, offset)

        def work(connection: apsw.Connection) -> list[Message]:
            conversation_rows.read(connection, conversation_id)
            statement = f"SELECT {columns} FROM message m WHERE {where} {order}"
            return message_rows.load(connection, list(select(connection, statement, bindings)))

        return await self._database.read(work)

    async def latest_messages(
        self, conversation_id: str, limit: int, with_receipts: bool = True
    ) -> list[Message]:
        columns = "m.*" if with_receipts else message_rows.WITHOUT_RECEIPT
        statement = f"""SELECT {columns} FROM message m WHERE conversation_id = ?
                        ORDER BY position DESC LIMIT ?"""

        def work(connection: apsw.Connection) -> list[Message]:
            conversation_rows.read(connection, conversation_id)
            rows = select(connection, statement, (conversation_id, max(limit, 0)))
            return message_rows.load(connection, list(rows)[::-1])

        return await self._database.read(work)

    async def last_receipt(self, conversation_id: str) -> Json:
        statement = """SELECT receipt FROM message
                       WHERE conversation_id = ? AND receipt IS NOT NULL
                       ORDER BY position DESC LIMIT 1"""
        text = await self._database.read(lambda c: select_value(c, statement, (conversation_id,)))
        return None if text is None else json.loads(text)

    async def last_texts(self, conversation_ids: Sequence[str]) -> dict[str, str]:
        statement = """SELECT m.conversation_id, m.content FROM json_each(?) AS wanted
                       JOIN message m ON m.conversation_id = wanted.value
                       WHERE m.position = (SELECT max(position) FROM message
                                           WHERE conversation_id = wanted.value)"""
        ids = as_json(conversation_ids)
        return await self._database.read(lambda c: dict(c.execute(statement, (ids,))))

    async def turns(self, turn_ids: Sequence[str]) -> dict[str, list[Message]]:
        def work(connection: apsw.Connection) -> dict[str, list[Message]]:
            rows = select(
                connection,
                f"""SELECT {message_rows.WITHOUT_RECEIPT}, t.message_id AS turn
                   FROM turn t JOIN message m
                   ON m.conversation_id = t.conversation_id AND m.turn_index = t.turn_index
                   WHERE t.message_id IN (SELECT value FROM json_each(?))""",
                (as_json(turn_ids),),
            )
            # Sorted here: SQLite would carry the texts along.
            found = sorted(rows, key=itemgetter("position"))
            turns: dict[str, list[Message]] = {row["turn"]: [] for row in found}
            for row, message in zip(found, message_rows.load(connection, found), strict=True):
                turns[row["turn"]].append(message)
            return turns

        return await self._database.read(work)

    async def owned_turns(self, turn_ids: Sequence[str]) -> dict[str, tuple[str, list[Message]]]:
        owners, turns = await gather_or_cancel(
            self.conversations_of(turn_ids), self.turns(turn_ids)
        )
        return {turn: (owners[turn], read) for turn, read in turns.items() if turn in owners}

    async def conversations_of(self, message_ids: Sequence[str]) -> dict[str, str]:
        statement = """SELECT uuid, conversation_id FROM message
                       WHERE uuid IN (SELECT value FROM json_each(?))"""
        ids = as_json(message_ids)
        return await self._database.read(lambda c: dict(c.execute(statement, (ids,))))

    async def tool_calls(
        self,
        conversation_id: str,
        tool_name: str | None = None,
        success: bool | None = None,
        limit: int | None = None,
    ) -> list[ToolCall]:
        def work(connection: apsw.Connection) -> list[ToolCall]:
            conversation_rows.read(connection, conversation_id)
            return message_rows.read_calls(connection, conversation_id, tool_name, success, limit)

        return await self._database.read(work)

    async def branch(self, message_id: str, into: Conversation) -> Conversation:
        def work(connection: apsw.Connection) -> Conversation:
            source = message_rows.read_row(connection, message_id, self._database.viewer)
            empty = replace(into, message_count=0, turn_count=0, total_chars=0)
            insert(connection, "conversation", CONVERSATION.encode(empty))
            copy_until(
                connection, source, conversation_rows.read(connection, into.uuid), self._tokeniser
            )
            conversation_rows.recount(connection, into.uuid)
            return CONVERSATION.decode(conversation_rows.read(connection, into.uuid))

        return await self._database.write(work)

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
            self._check_own(connection, conversation_id)
            row = conversation_rows.read(connection, conversation_id)
            vector_rows.put(connection, "conversation", [(row["id"], vector)])

        await self._database.write(work)

    async def turns_by_words(self, query: str, where: MemoryFilter, limit: int) -> list[Match]:
        return await self._database.read(lambda c: self._turn_words(c, query, where).best(limit))

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

        conditions = _make_turn_filter(where)
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
        conditions = _make_turn_filter(where)
        found = await self._database.read(
            lambda c: self._vectors.nearest(
                c, "turn", "o.message_id", vector, conditions, limit, min_score
            )
        )
        return [Match(*row) for row in found]

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

    def _check_own(
        self, connection: apsw.Connection, conversation_id: str, force: bool = False
    ) -> None:
        check_own(connection, self._database.viewer, "conversation", conversation_id, force)

    def _make_filter(self, where: ConversationFilter) -> Where:
        conditions = _make_filter(where)
        return conditions.add(is_own_row(self._database.viewer, "o")) if where.own else conditions


_LAST = "\U0010ffff"
"""Sorts after every other character."""


def _to_ms(moment: datetime | None) -> int | None:
    return None if moment is None else to_epoch_ms(moment)


def _make_filter(where: ConversationFilter) -> Where:
    conditions = Where().add("o.cwd = ?", where.cwd)
    add_any(conditions, "o.project_id", where.project_ids)
    conditions.add("o.status = ?", where.status)
    conditions.add("o.updated_ms >= ?", _to_ms(where.since)).add(
        "o.updated_ms <= ?", _to_ms(where.until)
    )
    if where.tags:
        any_of = "SELECT 1 FROM json_each(o.tags) t JOIN json_each(?) w ON w.value = t.value"
        conditions.add(f"EXISTS ({any_of})", as_json(where.tags))
    return conditions


def _make_turn_filter(where: MemoryFilter) -> Where:
    conditions = Where().add("o.conversation_id = ?", where.conversation_id)
    add_any(conditions, "o.project_id", where.project_ids)
    conditions.add("o.started_ms >= ?", _to_ms(where.since)).add(
        "o.started_ms <= ?", _to_ms(where.until)
    )
    if where.conversation_id is not None:
        conditions.keys.append([words.make_key("c", where.conversation_id)])
    elif where.project_ids is not None:
        conditions.keys.append([words.make_key("p", one) for one in where.project_ids])
    return conditions
