"""Summaries in SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import apsw

from ragforge.adapters.stores.sqlite import summary_rows, words
from ragforge.adapters.stores.sqlite import vectors as vector_rows
from ragforge.adapters.stores.sqlite.database import Database
from ragforge.adapters.stores.sqlite.filters import make_filter
from ragforge.adapters.stores.sqlite.sql import (
    as_json,
    read_row,
    select_column,
    select_one,
    select_value,
    upsert,
)
from ragforge.adapters.stores.sqlite.viewers import check_own, is_own
from ragforge.domain.code import CodeReference, FileMention
from ragforge.domain.instants import format_instant, now, to_epoch_ms
from ragforge.domain.kinds import CleanRow, Row
from ragforge.domain.rows import encode_mentions
from ragforge.domain.schema import CONVERSATION, SUMMARY
from ragforge.domain.summaries import Level, Summary, SummaryFilter, format_summary_for_search
from ragforge.domain.turns import TurnSize
from ragforge.ports.words import Tokeniser


class SqliteSummaries:
    """Keeps the promises of `SummaryStore`."""

    def __init__(self, database: Database, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser

    async def save(self, summary: Summary, turn_ids: Sequence[str] = ()) -> None:
        row = SUMMARY.encode(summary, self._database.redactor)
        summary = SUMMARY.decode(row)
        document = self._tokeniser.prose(format_summary_for_search(summary))

        def work(connection: apsw.Connection) -> None:
            self._check_own(connection, summary.conversation_id)
            summary_rows.check_turns(connection, summary.uuid, turn_ids)
            known = select_one(connection, "SELECT * FROM summary WHERE uuid = ?", (summary.uuid,))
            if known is not None and SUMMARY.is_reworded(known, row):
                vector_rows.remove(connection, "summary", known["id"])
            upsert(
                connection,
                "summary",
                CleanRow(row | summary_rows.read_privacy(connection, summary)),
                ["uuid"],
            )
            words.index(
                connection,
                "summary_words",
                read_row(connection, SUMMARY, summary.uuid)["id"],
                document,
            )
            summary_rows.cover(connection, summary)

        await self._database.write(work)

    async def uncovered_turns(self, conversation_id: str) -> list[TurnSize]:
        # CROSS: the few turns come first. SQLite would read all messages of the conversation.
        statement = """
            SELECT t.turn_index, sum(m.char_count) FROM turn t CROSS JOIN message m
              ON m.conversation_id = t.conversation_id AND m.turn_index = t.turn_index
            WHERE t.conversation_id = ? AND t.covered_by IS NULL
            GROUP BY t.turn_index HAVING max(m.summary_trimmed) = 0 ORDER BY t.turn_index"""

        def work(connection: apsw.Connection) -> list[TurnSize]:
            read_row(connection, CONVERSATION, conversation_id)
            return [TurnSize(*row) for row in connection.execute(statement, (conversation_id,))]

        return await self._database.read(work)

    async def trimmed_turns(self, conversation_id: str, first_turn: int = 0) -> list[int]:
        statement = """SELECT turn_index FROM message
                       WHERE conversation_id = ? AND turn_index >= ? AND summary_trimmed
                       ORDER BY turn_index"""

        def work(connection: apsw.Connection) -> list[int]:
            read_row(connection, CONVERSATION, conversation_id)
            return select_column(connection, statement, (conversation_id, first_turn))

        return await self._database.read(work)

    async def covered_turns(self, summary_id: str) -> list[int]:
        def work(connection: apsw.Connection) -> list[int]:
            read_row(connection, SUMMARY, summary_id)
            return summary_rows.read_covered(connection, summary_id)

        return await self._database.read(work)

    async def chars_before(self, conversation_id: str, turn_index: int) -> int:
        # The few turns behind it are counted, not the many before it.
        statement = """SELECT coalesce(sum(char_count), 0) FROM message
                       WHERE conversation_id = ? AND turn_index >= ?"""

        def work(connection: apsw.Connection) -> int:
            total = read_row(connection, CONVERSATION, conversation_id)["total_chars"]
            return int(total - select_value(connection, statement, (conversation_id, turn_index)))

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
            self._check_own(connection, conversation_id)
            for table in ("message", "summary"):
                statement = f"UPDATE {table} SET summary_trimmed = 0 WHERE conversation_id = ?"
                connection.execute(statement, (conversation_id,))

        await self._database.write(work)

    async def mark_read(self, summary_ids: Sequence[str]) -> None:
        statement = f"""UPDATE summary SET read_at = ? WHERE read_at IS NULL
                        AND uuid IN (SELECT value FROM json_each(?))
                        AND {is_own(self._database.viewer)}"""
        given = (format_instant(now()), as_json(summary_ids))
        await self._database.write(lambda c: c.execute(statement, given))

    async def mention(
        self, summary_id: str, files: Sequence[FileMention], scopes: Sequence[CodeReference]
    ) -> None:
        rows = encode_mentions(summary_id, files, scopes, self._database.redactor)

        def work(connection: apsw.Connection) -> None:
            self._read_own(connection, summary_id)
            connection.execute("DELETE FROM mention WHERE owner_id = ?", (summary_id,))
            for row in rows:
                upsert(connection, "mention", row, ["owner_id", "kind", "target_id"])

        await self._database.write(work)

    async def mentions(self, summary_id: str) -> tuple[list[FileMention], list[CodeReference]]:
        def work(connection: apsw.Connection) -> tuple[list[FileMention], list[CodeReference]]:
            read_row(connection, SUMMARY, summary_id)
            return summary_rows.read_mentions(connection, [summary_id]).get(summary_id, ([], []))

        return await self._database.read(work)

    async def mentions_of(
        self, summary_ids: Sequence[str]
    ) -> dict[str, tuple[list[FileMention], list[CodeReference]]]:
        return await self._database.read(lambda c: summary_rows.read_mentions(c, summary_ids))

    def _check_own(self, connection: apsw.Connection, conversation_id: str) -> None:
        check_own(connection, self._database.viewer, CONVERSATION, conversation_id)

    def _read_own(self, connection: apsw.Connection, summary_id: str) -> Row:
        """Return the row of a summary that is to be changed. Raises SummaryNotFound, NotAuthor."""
        return check_own(connection, self._database.viewer, SUMMARY, summary_id)
