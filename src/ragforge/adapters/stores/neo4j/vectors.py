"""Vectors: embeddings on nodes, searched exactly where few pass the filter."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ragforge.adapters.stores.neo4j.cypher import Where, index_key
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.adapters.stores.table import Row
from ragforge.domain.hits import Match
from ragforge.domain.vectors import Vector
from ragforge.errors import DimensionMismatch

EXACT_UP_TO = 5_000
"""How many vectors are compared one by one; beyond, the index proposes candidates."""
_FIRST_FETCH = 200
_LARGEST_FETCH = 20_000


@dataclass(frozen=True, slots=True)
class Shelf:
    """Nodes that carry vectors: their label, the property, and its index."""

    label: str
    index: str
    name: str = "embedding"

    @property
    def model(self) -> str:
        """The property that names a vector's model."""
        return f"{self.name}_model"

    @property
    def key(self) -> str:
        """The property that stands for the model's name in the index."""
        return f"{self.name}_key"


TURNS = Shelf("Message", "ragforge_turn_vectors")
SUMMARIES = Shelf("Summary", "ragforge_summary_vectors")
NOTES = Shelf("Note", "ragforge_note_vectors")
CONVERSATIONS = Shelf("Conversation", "ragforge_conversation_vectors", "summary_embedding")
SCOPES = Shelf("Scope", "ragforge_scope_vectors")
SECTIONS = Shelf("MarkdownSection", "ragforge_section_vectors")


async def register(tx: Transaction, vectors: Iterable[Vector]) -> None:
    """Note the dimension of each vector's model, once for all.

    Raises InvalidVector, DimensionMismatch.
    """
    dimensions: dict[str, int] = {}
    for vector in vectors:
        vector.check()
        if vector.model not in dimensions:
            dimensions[vector.model] = await tx.value(
                """MERGE (e:EmbeddingModel {key: $key})
                   ON CREATE SET e.name = $name, e.dimension = $dimension
                   RETURN e.dimension""",
                key=index_key(vector.model),
                name=vector.model,
                dimension=vector.dimension,
            )
        _compare(vector, dimensions[vector.model])


async def put(tx: Transaction, shelf: Shelf, vectors: Mapping[str, Vector]) -> set[str]:
    """Set the vectors of nodes, replacing older ones; return the ids that are unknown.

    Raises InvalidVector, DimensionMismatch.
    """
    await register(tx, vectors.values())
    rows: list[Row] = [
        {
            "uuid": uuid,
            "vector": {
                shelf.name: vector.values(),
                shelf.model: vector.model,
                shelf.key: index_key(vector.model),
            },
        }
        for uuid, vector in vectors.items()
    ]
    found = await tx.each(
        f"MATCH (n:{shelf.label} {{uuid: row.uuid}}) SET n += row.vector RETURN n.uuid AS uuid",
        rows,
    )
    return set(vectors) - {row["uuid"] for row in found}


async def find_nearest(
    tx: Transaction, shelf: Shelf, vector: Vector, where: Where, limit: int, min_score: float
) -> list[Match]:
    """Return the nodes of the vector's model that pass the filter, nearest first.

    Raises InvalidVector, DimensionMismatch.
    """
    vector.check()
    known = await tx.value(
        "MATCH (e:EmbeddingModel {key: $key}) RETURN e.dimension", key=index_key(vector.model)
    )
    if known is None or limit <= 0:
        return []
    _compare(vector, known)
    search = _Search(tx, shelf, vector, where, limit, min_score)
    if await search.count(EXACT_UP_TO + 1) > EXACT_UP_TO:
        found = await search.through_index()
        if found is not None:
            return found
    return await search.exactly()


def _compare(vector: Vector, dimension: int) -> None:
    if vector.dimension != dimension:
        raise DimensionMismatch(vector.model, dimension, vector.dimension)


class _Search:
    """One search for nearest vectors."""

    def __init__(
        self,
        tx: Transaction,
        shelf: Shelf,
        vector: Vector,
        where: Where,
        limit: int,
        min_score: float,
    ) -> None:
        self._tx = tx
        self._shelf = shelf
        self._limit = limit
        self._min_score = min_score
        self._condition = f"n.{shelf.key} = $key AND {where}"
        self._parameters = {
            **where.parameters,
            "key": index_key(vector.model),
            "vector": _normalise(vector),
        }

    async def count(self, most: int) -> int:
        """Return how many vectors pass the filter, counting no further than `most`."""
        query = f"""MATCH (n:{self._shelf.label}) WHERE {self._condition}
                    WITH n LIMIT $most RETURN count(n)"""
        return int(await self._tx.value(query, most=most, **self._parameters))

    async def exactly(self) -> list[Match]:
        """Compare every vector that passes the filter."""
        rows = await self._tx.rows(
            f"""MATCH (n:{self._shelf.label}) WHERE {self._condition}
                WITH n, vector.similarity.cosine(n.{self._shelf.name}, $vector) AS score
                WHERE score >= $min_score
                RETURN n.uuid AS id, score ORDER BY score DESC, id LIMIT $limit""",
            limit=self._limit,
            min_score=self._min_score,
            **self._parameters,
        )
        return _to_matches(rows)

    async def through_index(self) -> list[Match] | None:
        """Filter what the index proposes, asking for more until there is enough.

        None means that the index did not propose enough that passes the filter.
        """
        fetch = max(_FIRST_FETCH, 4 * self._limit)
        while fetch <= _LARGEST_FETCH:
            rows = await self._tx.rows(
                f"""CALL db.index.vector.queryNodes($index, $fetch, $vector)
                    YIELD node AS n, score
                    WITH n, score, {self._condition} AS passes
                    RETURN n.uuid AS id, score, passes ORDER BY score DESC, id""",
                index=self._shelf.index,
                fetch=fetch,
                **self._parameters,
            )
            good = [row for row in rows if row["passes"] and row["score"] >= self._min_score]
            if len(good) >= self._limit or (rows and rows[-1]["score"] < self._min_score):
                return _to_matches(good[: self._limit])
            fetch *= 4
        return None


def _to_matches(rows: Iterable[Row]) -> list[Match]:
    return [Match(row["id"], row["score"]) for row in rows]


def _normalise(vector: Vector) -> list[float]:
    """Return the direction alone: squares of very long vectors would overflow."""
    values = vector.values()
    norm = math.hypot(*values)
    return [value / norm for value in values]
