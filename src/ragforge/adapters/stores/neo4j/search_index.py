"""Searching items of every kind in Neo4j, by words and by meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, cast

from ragforge.adapters.stores.neo4j import messages, words
from ragforge.adapters.stores.neo4j import vectors as vector_nodes
from ragforge.adapters.stores.neo4j import words as index_of
from ragforge.adapters.stores.neo4j.cypher import (
    CypherFilter,
    format_match,
    is_own,
    is_own_node,
    select_fields,
)
from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase, Transaction
from ragforge.adapters.stores.neo4j.filters import make_filter, make_turn_filter
from ragforge.adapters.stores.neo4j.records import check_own
from ragforge.adapters.stores.neo4j.vectors import (
    NearestSearch,
    WordSearch,
    get_vector_index,
    match_both,
)
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import Match, TurnMatch, WordMatches
from ragforge.domain.kinds import Data, Filter, Kind, Row
from ragforge.domain.passages import PassageFilter
from ragforge.domain.schema import MESSAGE, PASSAGE, SCOPE, TURN
from ragforge.domain.text import check_text
from ragforge.domain.turns import StoredTurn
from ragforge.domain.vectors import Vector
from ragforge.ports.search_index import Found, Tokeniser

MAX_WORDS = 24
"""Of a long query, the rarest words are looked for."""
INDEX = "ragforge_turn_text"
_COUNTS = """COLLECT {{ UNWIND $asked AS one
    CALL db.index.fulltext.queryNodes($index, one.text) YIELD node AS n WHERE {where}
    WITH one, count(n) AS held RETURN [one.word, held] }}"""
"""How many turns that pass a filter hold each word."""
_TURNS = "COUNT {{ MATCH (n:Message) WHERE n.role = 'user' AND {where} }}"
_TURNS_OF_TALKS = "COLLECT {{ MATCH (n:Conversation) WHERE {where} RETURN sum(n.turn_count) }}[0]"
"""How many turns pass a filter; of projects, their conversations know it."""


class Neo4jIndex:
    """Implements `SearchIndex`."""

    def __init__(self, database: Neo4jDatabase, tokeniser: Tokeniser) -> None:
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
            for unknown in await vector_nodes.put(tx, get_vector_index(kind), vectors, where=where):
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
            get_vector_index(kind),
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
        where: CypherFilter,
        limit: int,
        min_score: float,
        read: int | None,
    ) -> Found[StoredTurn]:
        if vector is not None:
            by_words = WordSearch((INDEX,), wanted, where, limit)
            held, close, _ = await match_both(
                self._database, by_words, vector_nodes.TURNS, vector, min_score, "null"
            )
            first = [match.id for matches in (held, close) for match in matches[:read]]
            return Found(held, close, await messages.read_turns(self._database, first))
        if read == 0 or not wanted or limit <= 0:
            held = await words.search(self._database, (INDEX,), wanted, where, limit)
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
                **words.make_parameters((INDEX,), wanted, where, limit),
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
            index = vector_nodes.TURNS
            search = NearestSearch(index, vector, conditions, nearest, min_score)
        found, near = await self._database.read(
            lambda tx: match_words(tx, wanted, conditions, limit, reach, search)
        )
        return found, [Match(row["id"], row["score"]) for row in near]


def _get_indexes(kind: Kind[Any, Any], where: object) -> words.Indexes:
    """Return the indexes of words that a search asks."""
    if isinstance(where, PassageFilter):
        every = messages.INDEXES
        return tuple(every.values()) if where.kind is None else (every[where.kind],)
    return (f"ragforge_{kind.name}_words",)


def _get_moment(kind: Kind[Any, Any]) -> str | None:
    """Return the property by which items are in order of their age, if there is one."""
    name = next((name for name in kind if name.endswith("_ms")), None)
    return "n.timestamp_ms" if kind is TURN else name and f"n.{name}"


def _make_pending_filter(kind: Kind[Any, Filter], where: Filter | None) -> CypherFilter:
    """Return the conditions of a filter, and that an item may be embedded by the viewer."""
    conditions = CypherFilter() if where is None else make_filter(kind, where)
    if (moment := _get_moment(kind)) is not None:
        conditions.add(f"{moment} IS NOT NULL")
    if "author_key" in kind:
        conditions.add(is_own_node("n"))
    elif "conversation_id" in kind:
        conditions.add(is_own("n.conversation_id"))
    return conditions.add(get_vector_index(kind).only)


def _is_embedded(kind: Kind[Any, Any]) -> str:
    """Return whether a node has a vector of $model for its present hash, if it has one."""
    condition = f"coalesce(n.{get_vector_index(kind).model} = $model, false)"
    if "embedding_hash" in kind:
        condition += " AND coalesce(n.embedding_hash = n.hash, false)"
    return f"({condition})"


async def match_words(
    tx: Transaction,
    words: Sequence[str],
    where: CypherFilter,
    limit: int,
    reach: int,
    nearest: NearestSearch | None = None,
) -> tuple[WordMatches, list[Row]]:
    """Return the best turns and their neighbours, up to `reach` away, that pass the filter.

    A search by meaning is made in the same query. Raises DimensionMismatch.
    """
    every, chosen, turns = dict.fromkeys(words, 0), list(words), None
    if len(words) > MAX_WORDS:  # which are the rarest must be known before the search
        every, turns = await _count_words(tx, words, where)
        chosen = list(every)[:MAX_WORDS]
    if not chosen or limit <= 0:
        return WordMatches(), [] if nearest is None else await nearest.find(tx)
    counts_query, asked = "[]", []
    if turns is None:
        counts_query, asked = _format_counts(where), _make_expressions(words, where)
    near, near_columns = "", "null AS dimension"
    if nearest is not None:
        near = f"OPTIONAL CALL () {{ {nearest.query} }}"
        near_columns = "dimension, exact, found"
    [row] = await tx.rows(
        f"""CALL () {{
              {index_of.ASK_INDEXES} YIELD node AS n, score
              WHERE {where}
              WITH n, score ORDER BY score DESC, n.uuid LIMIT $limit
              RETURN collect(n) AS best
            }}
            CALL (best) {{
              UNWIND best AS t
              MATCH (n:Message {{conversation_id: t.conversation_id}})
              WHERE n.turn_index >= t.turn_index - $reach
                AND n.turn_index <= t.turn_index + $reach AND n.role = 'user' AND {where}
              WITH DISTINCT n ORDER BY n.timestamp_ms DESC, n.position DESC, n.uuid
              RETURN collect([n.uuid, n.conversation_id, n.turn_index, n.words]) AS rows
            }}
            {near}
            RETURN rows, {counts_query} AS counts, {_format_turns(where)} AS turns,
              {near_columns}""",
        index=INDEX,
        asked=asked,
        reach=reach,
        **index_of.make_parameters((INDEX,), chosen, where, limit)
        | ({} if nearest is None else nearest.parameters),
    )
    close: list[Row] = []
    if nearest is not None and row["dimension"] is not None:
        close = await nearest.complete(tx, row)
    if not row["rows"]:
        return WordMatches(), close
    counts = _sort_counts(row["counts"]) if turns is None else {w: every[w] for w in chosen}
    aside = frozenset(every).difference(counts) if turns is not None else frozenset()
    found = tuple(_load_match(one, counts) for one in row["rows"])
    every_turn = row["turns"] if turns is None else turns
    return WordMatches(found, counts, every_turn, aside), close


async def _count_words(
    tx: Transaction, words: Sequence[str], where: CypherFilter
) -> tuple[dict[str, int], int]:
    """Return how many turns hold each word, the rarest first, and how many turns there are.

    Words of no turn are left out.
    """
    [row] = await tx.rows(
        f"RETURN {_format_counts(where)} AS counts, {_format_turns(where)} AS turns",
        index=INDEX,
        asked=_make_expressions(words, where),
        **where.parameters,
    )
    return _sort_counts(row["counts"]), row["turns"]


def _format_counts(where: CypherFilter) -> str:
    """Return the query for counts; what the index has checked is not read from each node."""
    return _COUNTS.format(where="true" if where.is_indexed else where)


def _format_turns(where: CypherFilter) -> str:
    """Return the query for the number of turns that pass a filter."""
    return (_TURNS_OF_TALKS if where.is_indexed else _TURNS).format(where=where)


def _make_expressions(words: Sequence[str], where: CypherFilter) -> list[Row]:
    return [
        {"word": word, "text": where.narrow(index_of.format_query(INDEX, [word]))} for word in words
    ]


def _sort_counts(rows: Iterable[tuple[str, int]]) -> dict[str, int]:
    return dict(sorted(((word, count) for word, count in rows if count), key=lambda r: r[::-1]))


def _load_match(row: Sequence[Any], words: Collection[str]) -> TurnMatch:
    turn, conversation, index, held = row
    found = Counter((held or "").split())
    return TurnMatch(
        id=turn,
        conversation_id=conversation,
        turn_index=index,
        length=found.total(),
        words={word: min(found[word], 2) for word in words if found[word]},
    )
