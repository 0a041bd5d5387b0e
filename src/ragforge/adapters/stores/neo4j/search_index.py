"""Searching items of every kind in Neo4j, by words and by meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ragforge.adapters.stores.neo4j import messages, passage_nodes, turn_words, words
from ragforge.adapters.stores.neo4j import vectors as vector_nodes
from ragforge.adapters.stores.neo4j.both import WordSearch, match_both
from ragforge.adapters.stores.neo4j.cypher import (
    Where,
    format_match,
    is_own,
    is_own_node,
    select_fields,
)
from ragforge.adapters.stores.neo4j.driver import Database, Transaction
from ragforge.adapters.stores.neo4j.filters import make_filter, make_turn_filter
from ragforge.adapters.stores.neo4j.records import check_own
from ragforge.adapters.stores.neo4j.vectors import NearestSearch, get_shelf
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import Match, WordMatches
from ragforge.domain.kinds import Data, Filter, Kind
from ragforge.domain.passages import PassageFilter
from ragforge.domain.schema import MESSAGE, PASSAGE, SCOPE, TURN
from ragforge.domain.text import check_text
from ragforge.domain.turns import StoredTurn
from ragforge.domain.vectors import Vector
from ragforge.ports.search_index import Found
from ragforge.ports.words import Tokeniser


class Neo4jIndex:
    """Keeps the promises of `SearchIndex`."""

    def __init__(self, database: Database, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser

    async def embed(
        self,
        kind: Kind[Any, Any],
        vectors: Mapping[str, Vector],
        hashes: Mapping[str, str] | None = None,
    ) -> None:
        for one in (hashes or {}).values():
            check_text("embedding_hash", one)

        async def work(tx: Transaction) -> None:
            if kind is SCOPE:
                await vector_nodes.put_of_scopes(tx, vectors, hashes or {})
                return
            where = "true"
            if kind in (TURN, PASSAGE):  # hundreds at once
                where = is_own("n.conversation_id")
            else:
                for item_id in vectors:
                    await check_own(tx, kind, item_id)
            for unknown in await vector_nodes.put(tx, get_shelf(kind), vectors, where=where):
                # It does not exist, or is another author's.
                await check_own(tx, MESSAGE if kind is TURN else kind, unknown)
                raise kind.missing(unknown)

        await self._database.write(work)

    async def pending(
        self,
        kind: Kind[Any, Filter],
        model: str,
        limit: int | None = None,
        where: Filter | None = None,
    ) -> list[str]:
        order = ["n.uuid"]
        if (moment := _get_moment(kind)) is not None:
            order = (
                [moment, "n.conversation_id", "n.position"] if kind is TURN else [moment, *order]
            )
        conditions = _make_pending_filter(kind, where).add(f"NOT {_is_embedded(kind)}")
        return await self._database.column(
            f"""{format_match(kind, conditions)} RETURN n.uuid ORDER BY {", ".join(order)}
                {"" if limit is None else "LIMIT $limit"}""",
            **conditions.parameters,
            model=model,
            limit=limit,
        )

    async def count_pending(
        self, kind: Kind[Any, Filter], model: str | None, where: Filter | None = None
    ) -> tuple[int, int]:
        conditions = _make_pending_filter(kind, where)
        missing = "0" if model is None else f"sum(CASE WHEN {_is_embedded(kind)} THEN 0 ELSE 1 END)"
        [row] = await self._database.rows(
            f"{format_match(kind, conditions)} RETURN {missing} AS missing, count(*) AS every",
            **conditions.parameters,
            model=model,
        )
        return row["missing"], row["every"]

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
        wanted = self._tokeniser.query(query)
        if isinstance(where, MemoryFilter | PassageFilter):
            conditions = await make_turn_filter(self._database, kind, where)
        else:
            conditions = make_filter(kind, where)
        if kind is TURN:
            return cast(
                Found[Data],
                await self._search_turns(wanted, vector, conditions, limit, min_score, read),
            )
        by_words = WordSearch(_get_indexes(kind, where), wanted, conditions, limit)
        held, close, found = await match_both(
            self._database,
            by_words,
            get_shelf(kind),
            vector,
            min_score,
            "null" if read == 0 else select_fields("n", kind),
        )
        first = {match.id for matches in (held, close) for match in matches[:read]}
        return Found(
            held, close, {uuid: kind.decode(row) for uuid, row in found.items() if uuid in first}
        )

    async def _search_turns(
        self,
        wanted: Sequence[str],
        vector: Vector | None,
        where: Where,
        limit: int,
        min_score: float,
        read: int | None,
    ) -> Found[StoredTurn]:
        if vector is not None:
            by_words = WordSearch((turn_words.INDEX,), wanted, where, limit)
            held, close, _ = await match_both(
                self._database, by_words, vector_nodes.TURNS, vector, min_score, "null"
            )
            first = [match.id for matches in (held, close) for match in matches[:read]]
            return Found(held, close, await messages.read_turns(self._database, first))
        if read == 0 or not wanted or limit <= 0:
            held = await words.search(self._database, (turn_words.INDEX,), wanted, where, limit)
            return Found(held, [], {})
        row = await self._database.read(
            lambda tx: tx.row(
                f"""CALL () {{ {words.format_search(where, "n")} }}
                    CALL (rows) {{
                      UNWIND rows[..$read] AS row WITH row.facts AS h
                      {messages.format_turns()}
                    }}
                    RETURN [row IN rows | [row.id, row.score]] AS found, turns""",
                read=limit if read is None else max(read, 0),
                **words.make_parameters((turn_words.INDEX,), wanted, where, limit),
            )
        )
        assert row is not None
        found = [Match(*pair) for pair in row["found"] if pair[0] is not None]
        return Found(found, [], messages.decode_turns(row["turns"]))

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
        wanted = self._tokeniser.query(query)
        conditions = await make_turn_filter(self._database, TURN, where)
        search = None
        if vector is not None:
            shelf = vector_nodes.TURNS
            search = NearestSearch(shelf, vector, conditions, nearest, min_score)
        found, near = await self._database.read(
            lambda tx: turn_words.match_words(tx, wanted, conditions, limit, reach, search)
        )
        return found, [Match(row["id"], row["score"]) for row in near]


def _get_indexes(kind: Kind[Any, Any], where: object) -> words.Indexes:
    """Return the indexes of words that a search asks."""
    if isinstance(where, PassageFilter):
        every = passage_nodes.INDEXES
        return tuple(every.values()) if where.kind is None else (every[where.kind],)
    return (f"ragforge_{kind.name}_words",)


def _get_moment(kind: Kind[Any, Any]) -> str | None:
    """Return the property by which items are in order of their age, if there is one."""
    name = next((name for name in kind if name.endswith("_ms")), None)
    return "n.timestamp_ms" if kind is TURN else name and f"n.{name}"


def _make_pending_filter(kind: Kind[Any, Filter], where: Filter | None) -> Where:
    """Return the conditions of a filter, and that an item may be embedded by the viewer."""
    conditions = Where() if where is None else make_filter(kind, where)
    if (moment := _get_moment(kind)) is not None:
        conditions.add(f"{moment} IS NOT NULL")
    if "author_key" in kind:
        conditions.add(is_own_node("n"))
    elif "conversation_id" in kind:
        conditions.add(is_own("n.conversation_id"))
    return conditions.add(get_shelf(kind).only)


def _is_embedded(kind: Kind[Any, Any]) -> str:
    """Return whether a node has a vector of $model for its present hash, if it has one."""
    condition = f"coalesce(n.{get_shelf(kind).model} = $model, false)"
    if "embedding_hash" in kind:
        condition += " AND coalesce(n.embedding_hash = n.hash, false)"
    return f"({condition})"
