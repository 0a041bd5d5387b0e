"""The timeline in SQLite: what was said, in order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from ragforge.adapters.stores.sqlite import conversation_rows, summary_rows, vectors, words
from ragforge.adapters.stores.sqlite import messages as message_rows
from ragforge.adapters.stores.sqlite.branching import add_parts, copy_until, find_parts
from ragforge.adapters.stores.sqlite.database import SqliteDatabase
from ragforge.adapters.stores.sqlite.filters import make_filter
from ragforge.adapters.stores.sqlite.links import SqliteLinks
from ragforge.adapters.stores.sqlite.sql import Connection, SqlFilter, as_json
from ragforge.adapters.stores.sqlite.visibility import check_own, is_own
from ragforge.domain.conversations import Conversation, Message, ToolCall
from ragforge.domain.instants import to_epoch_ms
from ragforge.domain.rows import encode_message
from ragforge.domain.schema import CONVERSATION, MESSAGE, SUMMARY
from ragforge.domain.summaries import Level, Summary, SummaryFilter, format_summary_for_search
from ragforge.domain.turns import StoredTurn, TurnCoverage
from ragforge.ports.timeline import RecentPast
from ragforge.ports.words import Tokeniser

_COVERAGE = """
SELECT t.turn_index,
  (SELECT sum(m.char_count) FROM message m
   WHERE m.conversation_id = t.conversation_id AND m.turn_index = t.turn_index),
  t.covered_by,
  t.covered_by IS NULL AND (SELECT m.summary_trimmed FROM message m WHERE m.uuid = t.message_id)
FROM turn t WHERE t.conversation_id = ? AND """


class SqliteTimeline(SqliteLinks):
    """Implements `Timeline`."""

    def __init__(self, database: SqliteDatabase, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser

    async def save_summary(self, summary: Summary, turn_ids: Sequence[str] = ()) -> None:
        row = SUMMARY.encode(summary, self._database.redactor)
        summary = SUMMARY.decode(row)
        document = self._tokeniser.prose(format_summary_for_search(summary))

        def work(db: Connection) -> None:
            viewer = self._database.viewer
            owner = check_own(db, viewer, CONVERSATION, summary.conversation_id)
            summary_rows.check_turns(db, summary.uuid, turn_ids)
            known = db.row("SELECT * FROM summary WHERE uuid = ?", (summary.uuid,))
            if known is not None and SUMMARY.is_reworded(known, row):
                vectors.remove(db, "summary", known["id"])
            row["private_to"] = owner["private_to"]
            db.upsert("summary", row, ["uuid"])
            rowid = db.read_item(SUMMARY, summary.uuid)["id"]
            words.index(db, "summary_words", rowid, document)
            summary_rows.cover(db, summary)

        await self._database.write(work)

    async def coverage(
        self, conversation_id: str, first_turn: int | None = None
    ) -> list[TurnCoverage]:
        only_open = first_turn is None
        statement = _COVERAGE + ("t.covered_by IS NULL" if only_open else "t.turn_index >= ?")
        given = (conversation_id,) if only_open else (conversation_id, first_turn)

        def work(db: Connection) -> list[TurnCoverage]:
            db.read_item(CONVERSATION, conversation_id)
            rows = db.execute(f"{statement} ORDER BY t.turn_index", given)
            return [
                TurnCoverage(turn, chars, cover, bool(is_trimmed))
                for turn, chars, cover, is_trimmed in rows
                if not (only_open and is_trimmed)
            ]

        return await self._database.read(work)

    async def trim(
        self,
        before: datetime,
        level: Level | None = None,
        conversation_id: str | None = None,
        project_ids: Sequence[str] | None = None,
    ) -> int:
        chosen = SummaryFilter(conversation_id, project_ids, level)
        where = make_filter(SUMMARY, chosen, self._database.viewer)
        where.add("o.created_ms < ?", to_epoch_ms(before))
        where.add(is_own(self._database.viewer, "o.conversation_id"))

        def work(db: Connection) -> int:
            statement = f"SELECT uuid FROM summary o WHERE {where}"
            return summary_rows.trim(db, db.column(statement, where.bindings))

        return await self._database.write(work)

    async def forget_trims(self, conversation_id: str) -> None:
        def work(db: Connection) -> None:
            check_own(db, self._database.viewer, CONVERSATION, conversation_id)
            for table in ("message", "summary"):
                statement = f"UPDATE {table} SET summary_trimmed = 0 WHERE conversation_id = ?"
                db.execute(statement, (conversation_id,))

        await self._database.write(work)

    async def append(self, conversation_id: str, messages: Sequence[Message]) -> list[Message]:
        encoded = [encode_message(message, self._database.redactor) for message in messages]

        def work(db: Connection) -> list[Message]:
            row = check_own(db, self._database.viewer, CONVERSATION, conversation_id)
            placed = message_rows.add(db, row, encoded, self._tokeniser)
            conversation_rows.count(db, conversation_id, placed)
            return placed

        return await self._database.write(work)

    async def finish_calls(self, message_id: str, calls: Sequence[ToolCall]) -> Message:
        viewer, redactor = self._database.viewer, self._database.redactor

        def work(db: Connection) -> Message:
            row = check_own(db, viewer, MESSAGE, message_id)
            done = message_rows.finish_calls(db, row, calls, redactor, self._tokeniser)
            db.execute(
                "UPDATE conversation SET total_chars = total_chars + ? WHERE uuid = ?",
                (done.char_count - row["char_count"], row["conversation_id"]),
            )
            return done

        return await self._database.write(work)

    async def branch(self, message_id: str, into: Conversation) -> Conversation:
        new = conversation_rows.encode_new(into, self._database.redactor)

        def work(db: Connection) -> Conversation:
            source = check_own(db, self._database.viewer, MESSAGE, message_id, force=True)
            db.insert("conversation", new)
            row = db.read_item(CONVERSATION, into.uuid)
            copy_until(db, source, row, self._tokeniser)
            conversation_rows.recount(db, into.uuid)
            return CONVERSATION.decode(db.read_item(CONVERSATION, into.uuid))

        return await self._database.write(work)

    async def messages(
        self,
        conversation_id: str,
        first_turn: int | None = None,
        last_turn: int | None = None,
        limit: int | None = None,
        newest: bool = False,
        with_receipts: bool = True,
    ) -> list[Message]:
        columns = "m.*" if with_receipts else message_rows.WITHOUT_RECEIPT

        def work(db: Connection) -> list[Message]:
            db.read_item(CONVERSATION, conversation_id)
            bounds = (first_turn, last_turn)
            return _read(db, conversation_id, columns, limit, newest, bounds)

        return await self._database.read(work)

    async def recent_past(
        self, conversation_id: str, messages: int, summaries: int, stretches: int = 0
    ) -> RecentPast:
        columns = message_rows.WITHOUT_RECEIPT
        last_receipt = """SELECT receipt FROM message WHERE conversation_id = ?
                          AND receipt IS NOT NULL ORDER BY position DESC LIMIT 1"""

        def work(db: Connection) -> RecentPast:
            db.read_item(CONVERSATION, conversation_id)
            receipt = db.value(last_receipt, (conversation_id,))
            return RecentPast(
                _read(db, conversation_id, columns, messages, True),
                None if receipt is None else json.loads(receipt),
                summary_rows.read_outermost(db, conversation_id, max(summaries, 0)),
                summary_rows.read_stretches(db, conversation_id, max(stretches, 0)),
            )

        return await self._database.read(work)

    async def last_texts(self, conversation_ids: Sequence[str]) -> dict[str, str]:
        statement = """SELECT m.conversation_id, m.content FROM json_each(?) AS wanted
                       JOIN message m ON m.conversation_id = wanted.value
                       WHERE m.position = (SELECT max(position) FROM message
                                           WHERE conversation_id = wanted.value)"""
        ids = as_json(conversation_ids)
        return await self._database.read(lambda c: dict(c.execute(statement, (ids,))))

    async def turns(self, turn_ids: Sequence[str], back: int = 0) -> dict[str, StoredTurn]:
        return await self._database.read(lambda c: message_rows.read_turns(c, turn_ids, back))


def _read(
    db: Connection,
    conversation_id: str,
    columns: str,
    limit: int | None,
    newest: bool,
    turns: tuple[int | None, int | None] = (None, None),
) -> list[Message]:
    """Return the oldest, or the newest, messages of a conversation between two turns."""
    where = add_parts(SqlFilter(), "m", find_parts(db, conversation_id))
    where.add("m.turn_index >= ?", turns[0]).add("m.turn_index <= ?", turns[1])
    statement = f"""SELECT {columns} FROM message m WHERE {where}
                    ORDER BY position {"DESC" if newest else "ASC"} LIMIT ?"""
    limit = -1 if limit is None else max(limit, 0)
    rows = list(db.rows(statement, (*where.bindings, limit)))
    return message_rows.load(db, rows[::-1] if newest else rows)
