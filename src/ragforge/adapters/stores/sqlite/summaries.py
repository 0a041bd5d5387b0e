"""Summaries in SQLite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import apsw

from ragforge.adapters.stores.rows import SUMMARY
from ragforge.adapters.stores.sqlite import conversation_rows, summary_rows, words
from ragforge.adapters.stores.sqlite import vectors as vector_rows
from ragforge.adapters.stores.sqlite.common_words import FEW_ROWS, HALF, CommonWords
from ragforge.adapters.stores.sqlite.database import Database
from ragforge.adapters.stores.sqlite.sql import (
    Where,
    add_any,
    as_json,
    select,
    select_column,
    select_one,
    select_value,
    upsert,
)
from ragforge.adapters.stores.sqlite.vectors import VectorSearch
from ragforge.adapters.stores.sqlite.viewers import check_own, is_hidden, is_own
from ragforge.adapters.stores.table import Row
from ragforge.domain.code import CodeReference, FileMention
from ragforge.domain.hits import Match
from ragforge.domain.instants import format_instant, now, to_epoch_ms
from ragforge.domain.summaries import Level, Summary, SummaryFilter, format_summary_for_search
from ragforge.domain.turns import TurnSize
from ragforge.domain.vectors import Vector
from ragforge.errors import SummaryNotFound
from ragforge.ports.words import Tokeniser


class SqliteSummaries:
    """Keeps the promises of `SummaryStore`."""

    def __init__(self, database: Database, tokeniser: Tokeniser, vectors: VectorSearch) -> None:
        self._database = database
        self._tokeniser = tokeniser
        self._vectors = vectors
        self._common = CommonWords("summary_vocabulary", HALF, FEW_ROWS)

    async def save(self, summary: Summary, turn_ids: Sequence[str] = ()) -> None:
        row = SUMMARY.encode(summary)
        document = self._tokeniser.prose(format_summary_for_search(summary))

        def work(connection: apsw.Connection) -> None:
            self._check_own(connection, summary.conversation_id)
            summary_rows.check_turns(connection, summary.uuid, turn_ids)
            known = select_one(connection, "SELECT * FROM summary WHERE uuid = ?", (summary.uuid,))
            if known is not None and format_summary_for_search(
                SUMMARY.decode(known)
            ) != format_summary_for_search(summary):
                vector_rows.remove(connection, "summary", known["id"])
            upsert(
                connection,
                "summary",
                row | summary_rows.read_privacy(connection, summary),
                ["uuid"],
            )
            words.index(
                connection,
                "summary_words",
                summary_rows.read(connection, summary.uuid)["id"],
                document,
            )
            summary_rows.cover(connection, summary)

        await self._database.write(work)

    async def get(self, summary_id: str) -> Summary:
        return SUMMARY.decode(await self._database.read(lambda c: summary_rows.read(c, summary_id)))

    async def with_ids(self, summary_ids: Sequence[str]) -> dict[str, Summary]:
        statement = "SELECT * FROM summary WHERE uuid IN (SELECT value FROM json_each(?))"
        ids = as_json(summary_ids)
        return await self._database.read(
            lambda c: {row["uuid"]: SUMMARY.decode(row) for row in select(c, statement, (ids,))}
        )

    async def find(
        self, where: SummaryFilter, limit: int | None = None, offset: int = 0
    ) -> list[Summary]:
        conditions = _make_filter(where)
        statement = f"""
            SELECT * FROM summary o WHERE {conditions}
            ORDER BY conversation_id, start_turn_index, level, uuid LIMIT ? OFFSET ?
        """
        bindings = (*conditions.bindings, -1 if limit is None else limit, offset)
        return await self._database.read(
            lambda c: [SUMMARY.decode(row) for row in select(c, statement, bindings)]
        )

    async def conversations_of(self, summary_ids: Sequence[str]) -> dict[str, str]:
        statement = """SELECT uuid, conversation_id FROM summary
                       WHERE uuid IN (SELECT value FROM json_each(?))"""
        ids = as_json(summary_ids)
        return await self._database.read(lambda c: dict(c.execute(statement, (ids,))))

    async def not_in_level_2(self, conversation_id: str) -> list[Summary]:
        # The + keeps SQLite from reading all short-term summaries to find the few of these.
        statement = """SELECT * FROM summary WHERE conversation_id = ? AND +level = 1
                       AND covered_by IS NULL ORDER BY start_turn_index"""

        def work(connection: apsw.Connection) -> list[Summary]:
            conversation_rows.read(connection, conversation_id)
            return [SUMMARY.decode(r) for r in select(connection, statement, (conversation_id,))]

        return await self._database.read(work)

    async def waiting_for_level_2(self, conversation_id: str) -> list[Summary]:
        statement = """SELECT * FROM summary WHERE conversation_id = ? AND +level = 1
                       AND covered_by IS NULL AND NOT summary_trimmed ORDER BY start_turn_index"""

        def work(connection: apsw.Connection) -> list[Summary]:
            conversation_rows.read(connection, conversation_id)
            return [SUMMARY.decode(r) for r in select(connection, statement, (conversation_id,))]

        return await self._database.read(work)

    async def uncovered_turns(self, conversation_id: str) -> list[TurnSize]:
        # CROSS: the few turns come first. SQLite would read all messages of the conversation.
        statement = """
            SELECT t.turn_index, sum(m.char_count) FROM turn t CROSS JOIN message m
              ON m.conversation_id = t.conversation_id AND m.turn_index = t.turn_index
            WHERE t.conversation_id = ? AND t.covered_by IS NULL
            GROUP BY t.turn_index HAVING max(m.summary_trimmed) = 0 ORDER BY t.turn_index"""

        def work(connection: apsw.Connection) -> list[TurnSize]:
            conversation_rows.read(connection, conversation_id)
            return [TurnSize(*row) for row in connection.execute(statement, (conversation_id,))]

        return await self._database.read(work)

    async def trimmed_turns(self, conversation_id: str, first_turn: int = 0) -> list[int]:
        statement = """SELECT turn_index FROM message
                       WHERE conversation_id = ? AND turn_index >= ? AND summary_trimmed
                       ORDER BY turn_index"""

        def work(connection: apsw.Connection) -> list[int]:
            conversation_rows.read(connection, conversation_id)
            return select_column(connection, statement, (conversation_id, first_turn))

        return await self._database.read(work)

    async def covered_turns(self, summary_id: str) -> list[int]:
        def work(connection: apsw.Connection) -> list[int]:
            summary_rows.read(connection, summary_id)
            return summary_rows.read_covered(connection, summary_id)

        return await self._database.read(work)

    async def chars_before(self, conversation_id: str, turn_index: int) -> int:
        # The few turns behind it are counted, not the many before it.
        statement = """SELECT coalesce(sum(char_count), 0) FROM message
                       WHERE conversation_id = ? AND turn_index >= ?"""

        def work(connection: apsw.Connection) -> int:
            total = conversation_rows.read(connection, conversation_id)["total_chars"]
            return int(total - select_value(connection, statement, (conversation_id, turn_index)))

        return await self._database.read(work)

    async def delete(self, summary_id: str) -> None:
        def work(connection: apsw.Connection) -> None:
            self._read_own(connection, summary_id)
            summary_rows.remove(connection, summary_id)

        await self._database.write(work)

    async def trim(
        self,
        before: datetime,
        level: Level | None = None,
        conversation_id: str | None = None,
        project_ids: Sequence[str] | None = None,
    ) -> int:
        where = _make_filter(SummaryFilter(conversation_id, project_ids, level))
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
        rows = summary_rows.mention_rows(summary_id, files, scopes)

        def work(connection: apsw.Connection) -> None:
            self._read_own(connection, summary_id)
            connection.execute("DELETE FROM mention WHERE owner_id = ?", (summary_id,))
            for row in rows:
                upsert(connection, "mention", row, ["owner_id", "kind", "target_id"])

        await self._database.write(work)

    async def mentions(self, summary_id: str) -> tuple[list[FileMention], list[CodeReference]]:
        def work(connection: apsw.Connection) -> tuple[list[FileMention], list[CodeReference]]:
            summary_rows.read(connection, summary_id)
            return summary_rows.read_mentions(connection, [summary_id]).get(summary_id, ([], []))

        return await self._database.read(work)

    async def mentions_of(
        self, summary_ids: Sequence[str]
    ) -> dict[str, tuple[list[FileMention], list[CodeReference]]]:
        return await self._database.read(lambda c: summary_rows.read_mentions(c, summary_ids))

    async def embed(self, vectors: Mapping[str, Vector]) -> None:
        def work(connection: apsw.Connection) -> None:
            owners = [
                (self._read_own(connection, uuid)["id"], vector) for uuid, vector in vectors.items()
            ]
            vector_rows.put(connection, "summary", owners)

        await self._database.write(work)

    async def to_embed(self, model: str, limit: int) -> list[str]:
        statement = f"""
            SELECT s.uuid FROM summary s WHERE NOT EXISTS (
              SELECT 1 FROM vector v JOIN model m ON m.id = v.model
              WHERE v.kind = 'summary' AND v.owner = s.id AND m.name = ?)
              AND {is_own(self._database.viewer, "s.conversation_id")}
            ORDER BY s.created_ms, s.id LIMIT ?"""
        return await self._database.read(lambda c: select_column(c, statement, (model, limit)))

    async def by_words(self, query: str, where: SummaryFilter, limit: int) -> list[Match]:
        wanted = self._tokeniser.query(query)
        conditions = _make_filter(where)

        def search(connection: apsw.Connection, some: Sequence[str]) -> list[Match]:
            found = words.search(
                connection, "summary_words", "summary", "o.uuid", some, conditions, limit
            )
            return [Match(*row) for row in found]

        def work(connection: apsw.Connection) -> list[Match]:
            weighty = self._leave_out_common(connection, wanted)
            found = search(connection, weighty)
            if len(found) < limit and len(weighty) < len(wanted):
                return search(connection, wanted)  # summaries that hold the others alone
            return found

        return await self._database.read(work)

    def _leave_out_common(self, connection: apsw.Connection, wanted: Sequence[str]) -> list[str]:
        """Return the words that weigh anything in a ranking.

        The others stand in most summaries of a long session, many times in each, and to count
        them would take most of a search.
        """
        texts = int(select_value(connection, "SELECT count(*) FROM main.summary"))
        counts = self._common.counts(connection, wanted, texts)
        return [word for word in wanted if not self._common.is_common(counts.get(word, 0))]

    async def by_vector(
        self, vector: Vector, where: SummaryFilter, limit: int, min_score: float = 0.0
    ) -> list[Match]:
        conditions = _make_filter(where)
        found = await self._database.read(
            lambda c: self._vectors.nearest(
                c, "summary", "o.uuid", vector, conditions, limit, min_score
            )
        )
        return [Match(*row) for row in found]

    async def by_words_and_vector(
        self,
        query: str,
        vector: Vector | None,
        where: SummaryFilter,
        limit: int,
        min_score: float = 0.0,
    ) -> tuple[list[Match], list[Match], dict[str, Summary]]:
        near = [] if vector is None else await self.by_vector(vector, where, limit, min_score)
        matched = await self.by_words(query, where, limit)
        ids = [match.id for match in (*matched, *near)]
        return matched, near, await self.with_ids(ids) if ids else {}

    def _check_own(self, connection: apsw.Connection, conversation_id: str) -> None:
        check_own(connection, self._database.viewer, "conversation", conversation_id)

    def _read_own(self, connection: apsw.Connection, summary_id: str) -> Row:
        """Return the row of a summary that is to be changed. Raises SummaryNotFound, NotAuthor."""
        row = summary_rows.read(connection, summary_id)
        if is_hidden(row, self._database.viewer):
            raise SummaryNotFound(summary_id)
        self._check_own(connection, row["conversation_id"])
        return row


def _make_filter(where: SummaryFilter) -> Where:
    conditions = Where().add("o.conversation_id = ?", where.conversation_id)
    if where.project_ids is not None:
        conditions.add(
            """o.conversation_id IN (SELECT uuid FROM conversation
               WHERE project_id IN (SELECT value FROM json_each(?)))""",
            as_json(where.project_ids),
        )
    add_any(conditions, "o.conversation_id", where.conversation_ids)
    conditions.add("o.level = ?", where.level)
    conditions.add("o.start_turn_index >= ?", where.first_turn)
    conditions.add("o.uuid IN (SELECT owner_id FROM mention WHERE path = ?)", where.file)
    if where.unread:
        conditions.add("o.read_at IS NULL AND o.key_findings <> '[]'")
    if where.since is not None:
        conditions.add("o.created_ms >= ?", to_epoch_ms(where.since))
    if where.until is not None:
        conditions.add("o.created_ms <= ?", to_epoch_ms(where.until))
    return conditions
