"""Coverage in SQLite: summaries, and the turns that they cover."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import apsw

from ragforge.adapters.stores.sqlite import summary_rows, vectors, words
from ragforge.adapters.stores.sqlite.database import Database
from ragforge.adapters.stores.sqlite.filters import make_filter
from ragforge.adapters.stores.sqlite.sql import (
    read_row,
    select_column,
    select_one,
    upsert,
)
from ragforge.adapters.stores.sqlite.viewers import check_own, is_own
from ragforge.domain.instants import to_epoch_ms
from ragforge.domain.schema import CONVERSATION, SUMMARY
from ragforge.domain.summaries import Level, Summary, SummaryFilter, format_summary_for_search
from ragforge.domain.turns import TurnCoverage
from ragforge.ports.words import Tokeniser

_COVERAGE = """
SELECT t.turn_index,
  (SELECT sum(m.char_count) FROM message m
   WHERE m.conversation_id = t.conversation_id AND m.turn_index = t.turn_index),
  t.covered_by,
  t.covered_by IS NULL AND (SELECT m.summary_trimmed FROM message m WHERE m.uuid = t.message_id)
FROM turn t WHERE t.conversation_id = ? AND """


class Coverage:
    """The part of `Timeline` that remembers summaries."""

    def __init__(self, database: Database, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser

    async def save_summary(self, summary: Summary, turn_ids: Sequence[str] = ()) -> None:
        row = SUMMARY.encode(summary, self._database.redactor)
        summary = SUMMARY.decode(row)
        document = self._tokeniser.prose(format_summary_for_search(summary))

        def work(connection: apsw.Connection) -> None:
            viewer = self._database.viewer
            owner = check_own(connection, viewer, CONVERSATION, summary.conversation_id)
            summary_rows.check_turns(connection, summary.uuid, turn_ids)
            known = select_one(connection, "SELECT * FROM summary WHERE uuid = ?", (summary.uuid,))
            if known is not None and SUMMARY.is_reworded(known, row):
                vectors.remove(connection, "summary", known["id"])
            row["private_to"] = owner["private_to"]
            upsert(connection, "summary", row, ["uuid"])
            rowid = read_row(connection, SUMMARY, summary.uuid)["id"]
            words.index(connection, "summary_words", rowid, document)
            summary_rows.cover(connection, summary)

        await self._database.write(work)

    async def coverage(
        self, conversation_id: str, first_turn: int | None = None
    ) -> list[TurnCoverage]:
        only_open = first_turn is None
        statement = _COVERAGE + ("t.covered_by IS NULL" if only_open else "t.turn_index >= ?")
        given = (conversation_id,) if only_open else (conversation_id, first_turn)

        def work(connection: apsw.Connection) -> list[TurnCoverage]:
            read_row(connection, CONVERSATION, conversation_id)
            rows = connection.execute(f"{statement} ORDER BY t.turn_index", given)
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

        def work(connection: apsw.Connection) -> int:
            statement = f"SELECT uuid FROM summary o WHERE {where}"
            return summary_rows.trim(
                connection, select_column(connection, statement, where.bindings)
            )

        return await self._database.write(work)

    async def forget_trims(self, conversation_id: str) -> None:
        def work(connection: apsw.Connection) -> None:
            check_own(connection, self._database.viewer, CONVERSATION, conversation_id)
            for table in ("message", "summary"):
                statement = f"UPDATE {table} SET summary_trimmed = 0 WHERE conversation_id = ?"
                connection.execute(statement, (conversation_id,))

        await self._database.write(work)
