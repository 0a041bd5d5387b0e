"""Turn words: which turns hold which words, and what stands beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from ragforge.adapters.stores.neo4j import words as index_of
from ragforge.adapters.stores.neo4j.cypher import Where
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.adapters.stores.table import Row
from ragforge.domain.hits import TurnMatch, WordMatches

MOST_WORDS = 24
"""Of a long query, the rarest words are looked for."""
_INDEX = "ragforge_turn_words"


async def match_words(
    tx: Transaction, words: Sequence[str], where: Where, limit: int, reach: int
) -> WordMatches:
    """Return the best turns and those up to `reach` beside them that pass the filter."""
    every = await _count_words(tx, words, where)
    counts = dict(list(every.items())[:MOST_WORDS])
    best = await index_of.search(tx, _INDEX, list(counts), where, limit)
    if not best:
        return WordMatches()
    rows = await tx.rows(
        f"""MATCH (t:Message) WHERE t.uuid IN $best
            MATCH (n:Message {{conversation_id: t.conversation_id}})
            WHERE n.turn_index >= t.turn_index - $reach AND n.turn_index <= t.turn_index + $reach
              AND n.role = 'user' AND {where}
            WITH DISTINCT n
            RETURN n.uuid AS id, n.conversation_id AS conversation_id,
                   n.turn_index AS turn_index, n.words AS words
            ORDER BY n.timestamp_ms DESC, n.position DESC, n.uuid""",
        best=[match.id for match in best],
        reach=reach,
        **where.parameters,
    )
    turns = await tx.value(
        f"MATCH (n:Message) WHERE n.role = 'user' AND {where} RETURN count(n)", **where.parameters
    )
    aside = frozenset(every).difference(counts)
    return WordMatches(tuple(_load_match(row, counts) for row in rows), counts, turns, aside)


async def _count_words(tx: Transaction, words: Sequence[str], where: Where) -> dict[str, int]:
    """Return how many turns hold each word, the rarest first; words of no turn are left out."""
    rows = await tx.each(
        f"""CALL db.index.fulltext.queryNodes($index, row.expression) YIELD node AS n
            WHERE {where}
            RETURN row.word AS word, count(n) AS count ORDER BY count, word""",
        [{"word": word, "expression": index_of.format_query(_INDEX, [word])} for word in words],
        index=_INDEX,
        **where.parameters,
    )
    return {row["word"]: row["count"] for row in rows}


def _load_match(row: Row, words: Collection[str]) -> TurnMatch:
    found = Counter((row["words"] or "").split())
    return TurnMatch(
        id=row["id"],
        conversation_id=row["conversation_id"],
        turn_index=row["turn_index"],
        length=found.total(),
        words={word: min(found[word], 2) for word in words if found[word]},
    )
