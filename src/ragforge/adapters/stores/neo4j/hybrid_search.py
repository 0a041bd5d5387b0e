"""Both: one query that searches by words and by meaning, for one round trip to the server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragforge.adapters.stores.neo4j import words as index_of
from ragforge.adapters.stores.neo4j.cypher import CypherFilter
from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase, Transaction
from ragforge.adapters.stores.neo4j.vectors import NearestSearch, VectorIndex
from ragforge.domain.hits import Match
from ragforge.domain.kinds import Row
from ragforge.domain.vectors import Vector
from ragforge.records import dataclass

_NEAREST_ROWS = """UNWIND coalesce(found, []) AS part
                   UNWIND part.rows AS row WITH collect(row) AS rows"""


@dataclass(frozen=True, slots=True)
class WordSearch:
    """What a search by words looks for: in which indexes, words, a filter, and how many."""

    indexes: index_of.Indexes
    words: Sequence[str]
    where: CypherFilter
    limit: int


class FoundRows(NamedTuple):
    """Rows of `id`, `score` and `facts`, best first."""

    by_words: list[Row]
    nearest: list[Row]
    further: list[Row] | None = None  # None: the query did not look for them


async def search_both(
    database: Neo4jDatabase,
    by_words: WordSearch,
    nearest: NearestSearch | None,
    facts: str,
    further: str | None = None,
    **also: object,
) -> FoundRows:
    """Return rows by words and by meaning, each best first.

    A `further` search, which may have more parameters, begins with the nearest `rows`; it
    is left out where these are not known within the query. Filters that share the name of a
    parameter must give it the same value. Raises DimensionMismatch.
    """
    indexes, words = by_words.indexes, by_words.words
    where, limit = by_words.where, by_words.limit
    if nearest is None or not words or limit <= 0:
        found = await index_of.search_rows(database, indexes, words, where, limit, facts)
        return FoundRows(found, [] if nearest is None else await database.read(nearest.find))
    after = "" if further is None else f"CALL (found) {{ {_NEAREST_ROWS} {further} }}"
    query = f"""CALL () {{ {index_of.format_search(where, facts)} }}
                OPTIONAL CALL () {{ {nearest.query} }}
                {after}
                RETURN rows, dimension, exact, found, {"further" if after else "null AS further"}"""
    parameters = index_of.make_parameters(indexes, words, where, limit) | nearest.parameters | also

    async def work(tx: Transaction) -> FoundRows:
        [row] = await tx.rows(query, **parameters)
        known = [] if row["dimension"] is None else row["found"]
        near = await nearest.complete(tx, None if row["dimension"] is None else row)
        # If too few were found at first, the further search began with these.
        is_whole = near == index_of.drop_deleted(one for part in known for one in part["rows"])
        return FoundRows(
            index_of.drop_deleted(row["rows"]),
            near,
            index_of.drop_deleted(row["further"]) if after and is_whole else None,
        )

    return await database.read(work)


async def match_both(
    database: Neo4jDatabase,
    by_words: WordSearch,
    index: VectorIndex,
    vector: Vector | None,
    min_score: float,
    facts: str,
) -> tuple[list[Match], list[Match], dict[str, Row]]:
    """Return the matches by words, those by meaning, and the facts of each.

    Both keep to the same filter and limit. Raises DimensionMismatch.
    """
    where, limit = by_words.where, by_words.limit
    nearest = None
    if vector is not None:
        nearest = NearestSearch(index, vector, where, limit, min_score, facts)
    matched, near, _ = await search_both(database, by_words, nearest, facts)
    read = {row["id"]: row["facts"] for row in (*matched, *near)}
    held, close = ([Match(row["id"], row["score"]) for row in rows] for rows in (matched, near))
    return held, close, read
