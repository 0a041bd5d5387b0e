"""Turn words: which turns hold which words, and what stands beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from ragforge.adapters.stores.neo4j import words as index_of
from ragforge.adapters.stores.neo4j.cypher import Where
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.adapters.stores.table import Row
from ragforge.domain.hits import TurnMatch, WordMatches

MOST_WORDS = 24
"""Of a long query, the rarest words are looked for."""
_INDEX = "ragforge_turn_words"
_COUNTS = """COLLECT {{ UNWIND $asked AS one
    CALL db.index.fulltext.queryNodes($index, one.text) YIELD node AS n WHERE {where}
    WITH one, count(n) AS held RETURN [one.word, held] }}"""
"""How many turns that pass a filter hold each word."""
_TURNS = "COUNT {{ MATCH (n:Message) WHERE n.role = 'user' AND {where} }}"


async def match_words(
    tx: Transaction, words: Sequence[str], where: Where, limit: int, reach: int
) -> WordMatches:
    """Return the best turns and those up to `reach` beside them that pass the filter."""
    every, chosen, turns = dict.fromkeys(words, 0), list(words), None
    if len(words) > MOST_WORDS:  # which are the rarest must be known before the search
        every, turns = await _count_words(tx, words, where)
        chosen = list(every)[:MOST_WORDS]
    if not chosen or limit <= 0:
        return WordMatches()
    counts_query, asked = "[]", []
    if turns is None:
        counts_query, asked = _COUNTS.format(where=where), _make_expressions(words)
    row = await tx.row(
        f"""CALL () {{
              CALL db.index.fulltext.queryNodes($index, $expression) YIELD node AS n, score
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
              RETURN collect(n {{id: n.uuid, .conversation_id, .turn_index, .words}}) AS rows
            }}
            RETURN rows, {counts_query} AS counts, {_TURNS.format(where=where)} AS turns""",
        index=_INDEX,
        expression=index_of.format_query(_INDEX, chosen),
        asked=asked,
        limit=limit,
        reach=reach,
        **where.parameters,
    )
    if row is None or not row["rows"]:
        return WordMatches()
    counts = _sort_counts(row["counts"]) if turns is None else {w: every[w] for w in chosen}
    aside = frozenset(every).difference(counts) if turns is not None else frozenset()
    found = tuple(_load_match(one, counts) for one in row["rows"])
    return WordMatches(found, counts, row["turns"] if turns is None else turns, aside)


async def _count_words(
    tx: Transaction, words: Sequence[str], where: Where
) -> tuple[dict[str, int], int]:
    """Return how many turns hold each word, the rarest first, and how many turns there are.

    Words of no turn are left out.
    """
    [row] = await tx.rows(
        f"RETURN {_COUNTS.format(where=where)} AS counts, {_TURNS.format(where=where)} AS turns",
        index=_INDEX,
        asked=_make_expressions(words),
        **where.parameters,
    )
    return _sort_counts(row["counts"]), row["turns"]


def _make_expressions(words: Sequence[str]) -> list[Row]:
    return [{"word": word, "text": index_of.format_query(_INDEX, [word])} for word in words]


def _sort_counts(rows: Iterable[tuple[str, int]]) -> dict[str, int]:
    return dict(sorted(((word, count) for word, count in rows if count), key=lambda r: r[::-1]))


def _load_match(row: Row, words: Collection[str]) -> TurnMatch:
    found = Counter((row["words"] or "").split())
    return TurnMatch(
        id=row["id"],
        conversation_id=row["conversation_id"],
        turn_index=row["turn_index"],
        length=found.total(),
        words={word: min(found[word], 2) for word in words if found[word]},
    )
