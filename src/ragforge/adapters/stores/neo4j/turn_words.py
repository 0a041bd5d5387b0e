"""Turn words: which turns hold which words, and what stands beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from ragforge.adapters.stores.neo4j import words as index_of
from ragforge.adapters.stores.neo4j.cypher import Where
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.adapters.stores.neo4j.vectors import NearestSearch
from ragforge.domain.hits import TurnMatch, WordMatches
from ragforge.domain.kinds import Row

MOST_WORDS = 24
"""Of a long query, the rarest words are looked for."""
INDEX = "ragforge_turn_text"
_COUNTS = """COLLECT {{ UNWIND $asked AS one
    CALL db.index.fulltext.queryNodes($index, one.text) YIELD node AS n WHERE {where}
    WITH one, count(n) AS held RETURN [one.word, held] }}"""
"""How many turns that pass a filter hold each word."""
_TURNS = "COUNT {{ MATCH (n:Message) WHERE n.role = 'user' AND {where} }}"
_TURNS_OF_TALKS = "COLLECT {{ MATCH (n:Conversation) WHERE {where} RETURN sum(n.turn_count) }}[0]"
"""How many turns pass a filter; of projects, their conversations know it."""


async def match_words(
    tx: Transaction,
    words: Sequence[str],
    where: Where,
    limit: int,
    reach: int,
    nearest: NearestSearch | None = None,
) -> tuple[WordMatches, list[Row]]:
    """Return the best turns and those up to `reach` beside them that pass the filter.

    A search by meaning is made in the same query. Raises DimensionMismatch.
    """
    every, chosen, turns = dict.fromkeys(words, 0), list(words), None
    if len(words) > MOST_WORDS:  # which are the rarest must be known before the search
        every, turns = await _count_words(tx, words, where)
        chosen = list(every)[:MOST_WORDS]
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
    tx: Transaction, words: Sequence[str], where: Where
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


def _format_counts(where: Where) -> str:
    """Return the query for counts; what the index has checked is not read from each node."""
    return _COUNTS.format(where="true" if where.is_indexed else where)


def _format_turns(where: Where) -> str:
    """Return the query for the number of turns that pass a filter."""
    return (_TURNS_OF_TALKS if where.is_indexed else _TURNS).format(where=where)


def _make_expressions(words: Sequence[str], where: Where) -> list[Row]:
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
