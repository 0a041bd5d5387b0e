"""The timeline in SQLite: what was said, in order, and what code it touched."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from ragforge.adapters.stores.sqlite import conversation_rows, summary_rows, vectors, words
from ragforge.adapters.stores.sqlite import messages as message_rows
from ragforge.adapters.stores.sqlite.branching import add_parts, copy_until, find_parts
from ragforge.adapters.stores.sqlite.database import SqliteDatabase
from ragforge.adapters.stores.sqlite.filters import make_filter
from ragforge.adapters.stores.sqlite.sql import Connection, SqlFilter, as_json
from ragforge.adapters.stores.sqlite.visibility import check_own, is_own
from ragforge.domain.code import CodeLinks, CodeReference, FileMention, Touch
from ragforge.domain.conversations import Conversation, Message, ToolCall
from ragforge.domain.instants import to_epoch_ms
from ragforge.domain.kinds import Kind
from ragforge.domain.rows import encode_links, encode_message, group_links, strengthen
from ragforge.domain.schema import CONVERSATION, MESSAGE, SUMMARY, TOUCH
from ragforge.domain.summaries import Level, Summary, SummaryFilter, format_summary_for_search
from ragforge.domain.turns import StoredTurn, TurnCoverage
from ragforge.ports.search_index import Tokeniser
from ragforge.ports.timeline import RecentPast

_REFERENCES = """SELECT * FROM reference WHERE owner_id IN (
    SELECT m.uuid FROM json_each(?) j JOIN message m ON m.uuid = j.value)
  ORDER BY file, qualified_name, scope_id"""
_MENTIONS = """SELECT * FROM mention WHERE owner_id IN (
    SELECT s.uuid FROM json_each(?) j JOIN summary s ON s.uuid = j.value)
  ORDER BY path, qualified_name, target_id"""
_UNLINKED = """NOT m.link_pending AND NOT EXISTS (
    SELECT 1 FROM message o JOIN reference r ON r.owner_id = o.uuid
    WHERE o.conversation_id = t.conversation_id AND o.turn_index = t.turn_index
      AND substr(r.scope_id, -length(r.file) - 1) <> ':' || r.file)"""
_NAMED = """EXISTS (SELECT 1 FROM json_each(:names)
    WHERE value <> '' AND instr('.' || r.qualified_name || '.', '.' || value || '.') > 0)"""


class SqliteTimeline:
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

    async def link(
        self,
        kind: Kind[Message, Any] | Kind[Summary, Any],
        owner_id: str,
        references: Sequence[CodeReference],
        files: Sequence[FileMention] = (),
    ) -> None:
        rows = encode_links(kind, owner_id, references, files, self._database.redactor)

        def work(db: Connection) -> None:
            check_own(db, self._database.viewer, kind, owner_id)
            if kind is MESSAGE:
                statement = "SELECT scope_id, how FROM reference WHERE owner_id = ?"
                known = dict(db.execute(statement, (owner_id,)))
                for row in rows:
                    new = strengthen(row, known)
                    db.upsert("reference", new, ["owner_id", "scope_id"])
            else:
                db.execute("DELETE FROM mention WHERE owner_id = ?", (owner_id,))
                for row in rows:
                    db.upsert("mention", row, ["owner_id", "kind", "target_id"])

        await self._database.write(work)

    async def links(self, owner_ids: Sequence[str]) -> dict[str, CodeLinks]:
        return await self._database.read(lambda c: read_links(c, owner_ids))

    async def turns_to_link(
        self, project_ids: Sequence[str], limit: int, waiting: bool = True
    ) -> dict[str, str]:
        # CROSS: the few that wait come first. SQLite would read all turns of the project.
        tables = "message m CROSS JOIN turn t" if waiting else "turn t JOIN message m"
        statement = f"""
            SELECT t.message_id, t.conversation_id FROM {tables} ON t.message_id = m.uuid
            WHERE t.project_id IN (SELECT value FROM json_each(?))
              AND {"m.link_pending" if waiting else _UNLINKED}
              AND {is_own(self._database.viewer, "t.conversation_id")}
            ORDER BY t.started_ms, t.id LIMIT ?"""
        given = (as_json(project_ids), limit)
        return await self._database.read(lambda c: dict(c.execute(statement, given)))

    async def set_link_pending(self, turn_ids: Sequence[str], pending: bool) -> None:
        own = is_own(self._database.viewer)
        statement = f"""UPDATE message SET link_pending = ? WHERE role = 'user'
                        AND uuid IN (SELECT value FROM json_each(?)) AND {own}"""
        given = (pending, as_json(turn_ids))
        await self._database.write(lambda c: c.execute(statement, given))

    async def touches(
        self,
        *,
        files: Sequence[str] = (),
        scope_ids: Sequence[str] = (),
        names: Sequence[str] = (),
        project_ids: Sequence[str] | None = None,
        conversation_id: str | None = None,
        limit: int = 1000,
    ) -> list[Touch]:
        statement = f"""
            SELECT m.conversation_id, m.turn_index AS first_turn, m.turn_index AS last_turn,
                   m.timestamp AS "when", r.how, r.file, r.qualified_name AS name, r.hash,
                   r.scope_id AS target_id, 0 AS by_summary, m.timestamp_ms AS moment
            FROM reference r JOIN message m ON m.uuid = r.owner_id
            JOIN conversation c ON c.uuid = m.conversation_id
            WHERE r.how <> 'found' AND (:all OR r.file IN (SELECT value FROM json_each(:files))
                OR r.scope_id IN (SELECT value FROM json_each(:scopes)) OR {_NAMED})
              AND (:projects IS NULL OR c.project_id IN (SELECT value FROM json_each(:projects)))
              AND (:conversation IS NULL OR c.uuid = :conversation)
            UNION ALL
            SELECT s.conversation_id, s.start_turn_index, s.end_turn_index, s.created_at, r.how,
                   r.path, r.qualified_name, r.hash, r.target_id, 1, s.created_ms
            FROM mention r JOIN summary s ON s.uuid = r.owner_id
            JOIN conversation c ON c.uuid = s.conversation_id
            WHERE r.how <> 'found' AND (:all OR r.path IN (SELECT value FROM json_each(:files))
                OR (r.kind = 'scope' AND r.target_id IN (SELECT value FROM json_each(:scopes)))
                OR {_NAMED})
              AND (:projects IS NULL OR c.project_id IN (SELECT value FROM json_each(:projects)))
              AND (:conversation IS NULL OR c.uuid = :conversation)
            ORDER BY moment DESC, 1, 2, 3, 6, 7, 9 LIMIT :limit"""
        bindings = {
            "files": as_json(files),
            "scopes": as_json(scope_ids),
            "names": as_json(names),
            "projects": None if project_ids is None else as_json(project_ids),
            "conversation": conversation_id,
            "all": conversation_id is not None and not (files or scope_ids or names),
            "limit": limit,
        }
        return await self._database.read(
            lambda c: [TOUCH.decode(row) for row in c.rows(statement, bindings)]
        )


def read_links(db: Connection, owner_ids: Sequence[str]) -> dict[str, CodeLinks]:
    """Return the code that messages and summaries are linked to."""
    ids = (as_json(owner_ids),)
    rows = chain(db.rows(_REFERENCES, ids), db.rows(_MENTIONS, ids))
    return group_links(rows)


_COVERAGE = """
SELECT t.turn_index,
  (SELECT sum(m.char_count) FROM message m
   WHERE m.conversation_id = t.conversation_id AND m.turn_index = t.turn_index),
  t.covered_by,
  t.covered_by IS NULL AND (SELECT m.summary_trimmed FROM message m WHERE m.uuid = t.message_id)
FROM turn t WHERE t.conversation_id = ? AND """


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
