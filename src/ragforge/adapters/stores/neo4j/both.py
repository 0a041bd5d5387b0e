"""Both: one query that searches by words and by meaning, for one round trip to the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragforge.adapters.stores.neo4j import words as index_of
from ragforge.adapters.stores.neo4j.cypher import Where
from ragforge.adapters.stores.neo4j.driver import Database, Transaction
from ragforge.adapters.stores.neo4j.vectors import NearestSearch, Shelf
from ragforge.adapters.stores.table import Row
from ragforge.domain.hits import Match
from ragforge.domain.vectors import Vector


@dataclass(frozen=True, slots=True)
class WordSearch:
    """What a search by words looks for: an index, words, a filter, and how many it returns."""

    index: str
    words: Sequence[str]
    where: Where
    limit: int


async def search_both(
    database: Database, by_words: WordSearch, nearest: NearestSearch | None, facts: str
) -> tuple[list[Row], list[Row]]:
    """Return rows of `id`, `score` and `facts`, by words and by meaning, each best first.

    Filters that share the name of a parameter must give it the same value.
    Raises DimensionMismatch.
    """
    index, words, where, limit = by_words.index, by_words.words, by_words.where, by_words.limit
    if nearest is None or not words or limit <= 0:
        found = await index_of.search_rows(database, index, words, where, limit, facts)
        return found, [] if nearest is None else await database.read(nearest.find)
    query = f"""CALL () {{ {index_of.format_search(where, facts)} }}
                OPTIONAL CALL () {{ {nearest.query} }}
                RETURN rows, dimension, exact, found"""
    parameters = index_of.make_parameters(index, words, where, limit) | nearest.parameters

    async def work(tx: Transaction) -> tuple[list[Row], list[Row]]:
        [row] = await tx.rows(query, **parameters)
        near = await nearest.complete(tx, None if row["dimension"] is None else row)
        return index_of.drop_deleted(row["rows"]), near

    return await database.read(work)


async def match_both(
    database: Database,
    by_words: WordSearch,
    shelf: Shelf,
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
        nearest = NearestSearch(shelf, vector, where, limit, min_score, facts)
    matched, near = await search_both(database, by_words, nearest, facts)
    read = {row["id"]: row["facts"] for row in (*matched, *near)}
    held, close = ([Match(row["id"], row["score"]) for row in rows] for rows in (matched, near))
    return held, close, read
