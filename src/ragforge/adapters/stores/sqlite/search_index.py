"""Searching items of every kind in SQLite, by words and by meaning."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from ragforge.adapters.stores.sqlite import messages, records, words
from ragforge.adapters.stores.sqlite import vectors as vector_rows
from ragforge.adapters.stores.sqlite.database import SqliteDatabase
from ragforge.adapters.stores.sqlite.filters import make_filter, make_turn_filter
from ragforge.adapters.stores.sqlite.sql import Connection, SqlFilter, as_json
from ragforge.adapters.stores.sqlite.turn_search import PlainTurnWords
from ragforge.adapters.stores.sqlite.vectors import VectorSearch
from ragforge.adapters.stores.sqlite.visibility import (
    check_own,
    has_others,
    hides_any,
    is_own,
    is_own_row,
)
from ragforge.adapters.stores.sqlite.words import FEW_ROWS, HALF, CommonWords, pick_rarest
from ragforge.concurrency import gather_or_cancel
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import Match, WordMatches
from ragforge.domain.kinds import Data, Filter, Kind
from ragforge.domain.passages import PassageFilter, PassageKind
from ragforge.domain.schema import PASSAGE, SUMMARY, TURN
from ragforge.domain.text import check_text
from ragforge.domain.vectors import Vector
from ragforge.ports.search_index import Found, Tokeniser

if TYPE_CHECKING:
    from ragforge.adapters.stores.sqlite.turn_words import TurnWords


MAX_SEARCHED = 24
"""Of the words of a long text, such as an earlier turn, the rarest find as much as all."""
MAX_ROWS = 12_000
"""As many rows as the rarest words of a query may have together."""


class SqliteIndex:
    """Implements `SearchIndex`."""

    def __init__(
        self, database: SqliteDatabase, tokeniser: Tokeniser, vectors: VectorSearch
    ) -> None:
        self._database = database
        self._tokeniser = tokeniser
        self._vectors = vectors
        self._common_in_turns = CommonWords("turn_vocabulary")
        self._common_in_passages: Mapping[PassageKind, CommonWords] = {
            "said": CommonWords("passage_vocabulary"),
            "done": CommonWords("deed_vocabulary"),
        }
        self._common_in_summaries = CommonWords("summary_vocabulary", HALF, FEW_ROWS)

    async def embed(
        self,
        kind: Kind[Any, Any],
        vectors: Mapping[str, Vector],
        hashes: Mapping[str, str] | None = None,
    ) -> None:
        for one in (hashes or {}).values():
            check_text("embedding_hash", one)

        def work(db: Connection) -> None:
            owners = self._find_owners(db, kind, vectors)
            new = [(owners[one], vector) for one, vector in vectors.items()]
            made_of = {owners[one]: hash for one, hash in (hashes or {}).items()}
            vector_rows.put(db, kind.name, new, made_of)

        await self._database.write(work)

    def _find_owners(
        self, db: Connection, kind: Kind[Any, Any], ids: Collection[str]
    ) -> dict[str, int]:
        """Return the row ids of items that may be changed."""
        if "author_key" in kind or "conversation_id" in kind:
            rows = (check_own(db, self._database.viewer, kind, one) for one in ids)
            return {one: row["id"] for one, row in zip(ids, rows, strict=True)}
        statement = f"""SELECT {kind.key}, id FROM {kind.name}
                        WHERE {kind.key} IN (SELECT value FROM json_each(?))"""
        found: dict[str, int] = dict(db.execute(statement, (as_json(ids),)))
        for one in ids:
            if one not in found:
                raise kind.missing(one)
        return found

    async def pending(
        self,
        kind: Kind[Any, Filter],
        model: str,
        limit: int | None = None,
        where: Filter | None = None,
    ) -> list[str]:
        conditions = self._make_filter_of(kind, where).add(self._is_own(kind))
        made_of = "AND v.hash IS o.hash" if "embedding_hash" in kind else ""
        order = next((f"o.{name}, o.id" for name in kind if name.endswith("_ms")), "o.id")
        statement = f"""
            SELECT o.{kind.key} FROM {kind.name} o WHERE {conditions} AND NOT EXISTS (
              SELECT 1 FROM vector v JOIN model m ON m.id = v.model
              WHERE v.kind = '{kind.name}' AND v.owner = o.id AND m.name = ? {made_of})
            ORDER BY {order} LIMIT ?"""
        bindings = (*conditions.bindings, model, -1 if limit is None else limit)
        return await self._database.read(lambda c: c.column(statement, bindings))

    async def count_pending(
        self, kind: Kind[Any, Filter], model: str | None, where: Filter | None = None
    ) -> tuple[int, int]:
        def work(db: Connection) -> tuple[int, int]:
            conditions, vectors = self._make_filter_of(kind, where), "vector v"
            if has_others(db, self._database.viewer):
                conditions.add(self._is_own(kind))
            every = f"SELECT count(*) FROM {kind.name} o WHERE {conditions}"
            found = int(db.value(every, conditions.bindings))
            if model is None:
                return 0, found
            if conditions:
                vectors += f" JOIN {kind.name} o ON o.id = v.owner"
            if "embedding_hash" in kind:
                conditions.add("v.hash IS o.hash")
            embedded = f"""SELECT count(*) FROM {vectors} JOIN model m ON m.id = v.model
                           WHERE {conditions} AND v.kind = ? AND m.name = ?"""
            given = (*conditions.bindings, kind.name, model)
            return found - db.value(embedded, given), found

        return await self._database.read(work)

    def _make_filter_of(self, kind: Kind[Any, Filter], where: Filter | None) -> SqlFilter:
        return SqlFilter() if where is None else make_filter(kind, where, self._database.viewer)

    def _is_own(self, kind: Kind[Any, Any]) -> str:
        """Return the condition that an item `o` does not belong to another author."""
        viewer = self._database.viewer
        if "author_key" in kind:
            return is_own_row(viewer, "o")
        return is_own(viewer, "o.conversation_id") if "conversation_id" in kind else "1"

    async def search(
        self,
        kind: Kind[Data, Filter],
        query: str,
        vector: Vector | None,
        where: Filter,
        limit: int,
        min_score: float = 0.0,
        read: int | None = None,
    ) -> Found[Data]:
        def work(db: Connection) -> Found[Data]:
            near: list[Match] = []
            conditions = self._make_filter(db, kind, where)
            if vector is not None:
                near = self._find_nearest(db, kind, vector, conditions, limit, min_score)
            if kind is PASSAGE:
                asked = cast(PassageFilter, where).kind
                conditions.keys_say_all = self._keys_say_all(db, cast(PassageFilter, where))
                held = self._find_passages(db, asked, query, conditions, limit)
            else:
                held = self._find_by_words(db, kind, query, conditions, limit)
            first = [match.id for found in (held, near) for match in found[:read]]
            return Found(held, near, _read(db, kind, first) if first else {})

        return await self._database.read(work)

    def _make_filter(self, db: Connection, kind: Kind[Any, Filter], where: Filter) -> SqlFilter:
        if "turn_index" in kind:
            return make_turn_filter(db, kind, cast(MemoryFilter, where))
        return make_filter(kind, where, self._database.viewer)

    def _keys_say_all(self, db: Connection, where: PassageFilter) -> bool:
        """Tell whether the keys of projects, in the index of one kind, are all of a filter."""
        in_projects = replace(where, kind=None, project_ids=None) == PassageFilter()
        has_both = where.kind is not None and where.project_ids is not None
        return in_projects and has_both and not hides_any(db, self._database.viewer)

    def _find_nearest(
        self,
        db: Connection,
        kind: Kind[Any, Any],
        vector: Vector,
        where: SqlFilter,
        limit: int,
        min_score: float,
    ) -> list[Match]:
        key = f"o.{kind.key}"
        found = self._vectors.nearest(db, kind.name, key, vector, where, limit, min_score)
        return [Match(*row) for row in found]

    def _find_by_words(
        self, db: Connection, kind: Kind[Any, Any], query: str, where: SqlFilter, limit: int
    ) -> list[Match]:
        wanted = self._tokeniser.query(query)
        if not wanted:
            return []
        some = wanted
        if kind is TURN:
            return self._find_plainly(db, wanted, where)[0].find(limit)
        if kind is SUMMARY:
            some = self._leave_out_common(db, wanted)
        found = _search_words(db, kind, some, where, limit)
        if len(found) < limit and len(some) < len(wanted):
            return _search_words(db, kind, wanted, where, limit)  # only the others
        return found

    def _leave_out_common(self, db: Connection, wanted: Sequence[str]) -> list[str]:
        """Return the words that weigh anything in a ranking.

        The others are in most summaries of a long session, many times in each: counting them
        would take most of a search.
        """
        texts = int(db.value("SELECT count(*) FROM main.summary"))
        common = self._common_in_summaries
        counts = common.counts(db, wanted, texts)
        return [word for word in wanted if not common.is_common(counts.get(word, 0))]

    def _find_passages(
        self, db: Connection, kind: PassageKind | None, query: str, where: SqlFilter, limit: int
    ) -> list[Match]:
        """Return passages by the rarest words of a query; of both kinds if none is given."""
        wanted = self._tokeniser.query(query)
        every = int(db.value("SELECT count(*) FROM main.passage"))
        found: list[Match] = []
        for one in words.PASSAGES if kind is None else [kind]:
            some, _ = _pick_rare(db, self._common_in_passages[one], wanted, every)
            table, key = words.PASSAGES[one], f"o.{PASSAGE.key}"
            rows = words.search(db, table, PASSAGE.name, key, some, where, limit)
            found += [Match(*row) for row in rows]
        return sorted(found, key=lambda match: (-match.score, match.id))[:limit]

    def _find_plainly(
        self,
        db: Connection,
        wanted: Sequence[str],
        where: SqlFilter,
        project_ids: Sequence[str] | None = None,
    ) -> tuple[PlainTurnWords, frozenset[str]]:
        """Return which turns hold the rarest words, and the words that are too common."""
        every = "SELECT coalesce(sum(turn_count), 0) FROM conversation"
        total = int(db.value(every))
        rare, common = _pick_rare(db, self._common_in_turns, wanted, total)
        if project_ids is not None:
            inside = f"{every} WHERE project_id IN (SELECT value FROM json_each(?))"
            total = int(db.value(inside, (as_json(project_ids),)))
        hides = hides_any(db, self._database.viewer)
        found = PlainTurnWords(db, rare, where, total, hides)
        return found, frozenset(filter(found.holds, common)) if hides else common

    def _turn_words(self, db: Connection, wanted: Sequence[str], where: SqlFilter) -> TurnWords:
        from ragforge.adapters.stores.sqlite.turn_words import TurnWords  # storing needs no arrays

        hides = hides_any(db, self._database.viewer)
        passing = self._vectors.passing(db, "turn", where) if where or hides else None
        return TurnWords(db, wanted, where, passing, self._common_in_turns, hides)

    async def match_turns(
        self,
        query: str,
        where: MemoryFilter,
        limit: int,
        reach: int,
        vector: Vector | None = None,
        nearest: int = 0,
        min_score: float = 0.0,
    ) -> tuple[WordMatches, list[Match]]:
        def match(db: Connection) -> WordMatches:
            conditions = make_turn_filter(db, TURN, where)
            wanted = self._tokeniser.query(query)
            if not reach:
                found, aside = self._find_plainly(db, wanted, conditions, where.project_ids)
                return replace(found.match(limit), too_common=aside)
            return self._turn_words(db, wanted, conditions).match(limit, reach)

        if vector is None:
            return await self._database.read(match), []
        matched, near = await gather_or_cancel(
            self._database.read(match),
            self.search(TURN, "", vector, where, nearest, min_score, read=0),
        )
        return matched, list(near.by_vector)


def _pick_rare(
    db: Connection, common: CommonWords, wanted: Sequence[str], texts: int
) -> tuple[list[str], frozenset[str]]:
    """Return the rarest words of a query, and those that are too common to be searched for."""
    counts = common.counts(db, wanted, texts)
    rare = pick_rarest(counts, MAX_ROWS)[:MAX_SEARCHED]
    return rare, frozenset(counts).difference(rare)


def _search_words(
    db: Connection, kind: Kind[Any, Any], wanted: Sequence[str], where: SqlFilter, limit: int
) -> list[Match]:
    index, key = f"{kind.name}_words", f"o.{kind.key}"
    found = words.search(db, index, kind.name, key, wanted, where, limit)
    return [Match(*row) for row in found]


def _read(db: Connection, kind: Kind[Data, Any], ids: Sequence[str]) -> Mapping[str, Data]:
    if kind is TURN:
        return cast(Mapping[str, Data], messages.read_turns(db, ids))
    return records.read_with_ids(db, kind, ids)
