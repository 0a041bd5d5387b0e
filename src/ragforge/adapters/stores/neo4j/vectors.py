"""Vectors: embeddings on nodes, searched exactly where few pass the filter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ragforge.adapters.stores.neo4j import words as index_of
from ragforge.adapters.stores.neo4j.cypher import CypherFilter, get_label, index_key
from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase, Transaction
from ragforge.domain.hits import Match
from ragforge.domain.kinds import Kind, Row
from ragforge.domain.vectors import Vector
from ragforge.errors import DimensionMismatch, ScopeNotFound
from ragforge.records import dataclass

EXACT_UP_TO = 500
"""How many vectors are compared one by one; beyond, the index proposes candidates (decision 3)."""
_FIRST_FETCH = 200
_FETCH_A_HIT = 2
_LARGEST_FETCH = 20_000


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """Nodes that carry vectors: their label, the property, and its index."""

    label: str
    index: str | None  # None: all that pass a filter are compared
    name: str = "embedding"
    only: str = "true"  # which nodes `n` of the label may carry one

    @property
    def model(self) -> str:
        """The property that names a vector's model."""
        return f"{self.name}_model"

    @property
    def key(self) -> str:
        """The property by which the index finds the model."""
        return f"{self.name}_key"


TURNS = VectorIndex("Message", "ragforge_turn_vectors", only="n.role = 'user'")
CONVERSATIONS = VectorIndex("Conversation", "ragforge_conversation_vectors", "summary_embedding")
SCOPES = VectorIndex("Scope", None)  # searched in few files (decision 3)
WHOLE_FILES = VectorIndex("WholeFile", "ragforge_whole_file_vectors")
SECTIONS = VectorIndex("MarkdownSection", "ragforge_section_vectors")


def get_vector_index(kind: Kind[Any, Any]) -> VectorIndex:
    """Return the index of a kind."""
    special = {"turn": TURNS, "conversation": CONVERSATIONS, "scope": SCOPES}
    found = special.get(kind.name)
    return found or VectorIndex(get_label(kind), f"ragforge_{kind.name}_vectors")


async def put(
    tx: Transaction,
    index: VectorIndex,
    vectors: Mapping[str, Vector],
    facts: Mapping[str, Row] | None = None,
    where: str = "true",
) -> set[str]:
    """Set the vectors of nodes, and facts of theirs; return the ids that are unknown.

    Nodes that do not pass the condition are unknown. Older vectors are replaced. The dimension
    of a model is noted with its first vector. Raises InvalidVector, DimensionMismatch.
    """
    by_model: dict[str, dict[str, Vector]] = {}
    for uuid, vector in vectors.items():
        vector.check()
        by_model.setdefault(vector.model, {})[uuid] = vector
    also, unknown = facts or {}, set(vectors)
    for model, group in by_model.items():
        first = next(iter(group.values()))
        for vector in group.values():
            _compare(vector, first.dimension)
        [row] = await tx.rows(
            f"""MERGE (e:EmbeddingModel {{key: $key}})
                ON CREATE SET e.name = $model, e.dimension = $dimension
                WITH e.dimension AS dimension
                CALL (dimension) {{
                  UNWIND CASE dimension WHEN $dimension THEN $rows ELSE [] END AS row
                  MATCH (n:{index.label} {{uuid: row[0]}}) WHERE {index.only} AND {where}
                  SET n += row[2], n.{index.model} = $model, n.{index.key} = $key,
                      n.{index.name} = toFloatList(split(row[1], ' '))
                  RETURN collect(n.uuid) AS known
                }}
                RETURN dimension, known""",
            key=index_key(model),
            model=model,
            dimension=first.dimension,
            rows=[[uuid, _format_numbers(one), also.get(uuid, {})] for uuid, one in group.items()],
        )
        _compare(first, row["dimension"])
        unknown.difference_update(row["known"])
    return unknown


async def put_of_scopes(
    tx: Transaction, vectors: Mapping[str, Vector], hashes: Mapping[str, str]
) -> None:
    """Set the vectors of scopes of code or documents, and what text each was made of.

    Raises InvalidVector, DimensionMismatch, ScopeNotFound.
    """
    made_of = {uuid: {"embedding_hash": hash} for uuid, hash in hashes.items()}
    missing = await put(tx, SCOPES, vectors, made_of)
    sections = {uuid: vectors[uuid] for uuid in missing}
    for unknown in await put(tx, SECTIONS, sections, made_of):
        raise ScopeNotFound(unknown)


async def remove(tx: Transaction, index: VectorIndex, uuid: str) -> None:
    """Remove the vector of a node: it was made of another text."""
    names = f"n.{index.name}, n.{index.model}, n.{index.key}"
    await tx.rows(f"MATCH (n:{index.label} {{uuid: $id}}) REMOVE {names}", id=uuid)


def _compare(vector: Vector, dimension: int) -> None:
    if vector.dimension != dimension:
        raise DimensionMismatch(vector.model, dimension, vector.dimension)


class NearestSearch:
    """One search for nearest vectors: a whole query, or a part of a larger one.

    It finds rows of `id`, `score` and the `facts` of the node `n`.

    Few that pass the filter are compared, else the index proposes candidates: both are one query,
    which is nearly always the only one. What does not pass stays on the server.
    Raises InvalidVector.
    """

    def __init__(
        self,
        index: VectorIndex,
        vector: Vector,
        where: CypherFilter,
        limit: int,
        min_score: float,
        facts: str = "null",
    ) -> None:
        vector.check()
        self._index = index
        self._vector = vector
        self._limit = limit
        self._min_score = min_score
        self._facts = facts
        self._condition = f"n.{index.key} = $key AND {where}"
        self.parameters: dict[str, Any] = {
            **where.parameters,
            "key": index_key(vector.model),
            "vector": _normalise(vector),
            "dimension": vector.dimension,
            "vector_index": index.index,
            "nearest": limit,
            "min_score": min_score,
            "most": EXACT_UP_TO + 1,
            "fetch": max(_FIRST_FETCH, _FETCH_A_HIT * limit),
        }

    @property
    def query(self) -> str:
        """The query, of one row if the model is known: `dimension`, `exact` and `found`."""
        if self._index.index is None:
            return f"""
            MATCH (e:EmbeddingModel {{key: $key}})
            CALL (e) {{
              MATCH (n:{self._index.label})
              WHERE e.dimension = $dimension AND {self._condition}
              {self._score()}
            }}
            RETURN e.dimension AS dimension, true AS exact, [found] AS found"""
        return f"""
            MATCH (e:EmbeddingModel {{key: $key}})
            CALL (e) {{
              MATCH (n:{self._index.label})
              WHERE e.dimension = $dimension AND {self._condition}
              WITH n LIMIT $most RETURN collect(n) AS some
            }}
            CALL (some) {{
              UNWIND CASE WHEN size(some) < $most THEN some ELSE [] END AS n
              {self._score()}
              UNION ALL
              UNWIND CASE WHEN size(some) < $most THEN [] ELSE [true] END AS many
              {self._ask_index()}
            }}
            RETURN e.dimension AS dimension, size(some) < $most AS exact,
              collect(found) AS found"""

    async def find(self, tx: Transaction) -> list[Row]:
        """Return the nearest nodes. Raises DimensionMismatch."""
        if self._limit <= 0:
            return []
        return await self.complete(tx, await tx.row(self.query, **self.parameters))

    async def complete(self, tx: Transaction, row: Row | None) -> list[Row]:
        """Return the rows of the query's result; if they are too few, search further.

        Raises DimensionMismatch.
        """
        if row is None:
            return []
        _compare(self._vector, row["dimension"])
        choose = min if row["exact"] else max  # what was compared has fetched nothing
        found = choose(row["found"], key=lambda found: found["fetch"])
        while found["fetch"] and not self._is_enough(found):
            share = max(found["passing"], 1) / found["seen"]
            fetch = max(4 * found["fetch"], round(_FETCH_A_HIT * self._limit / share))
            query = self._ask_index()
            if fetch > _LARGEST_FETCH:
                query = f"MATCH (n:{self._index.label}) WHERE {self._condition} {self._score()}"
            found = await tx.value(query, **{**self.parameters, "fetch": fetch})
        # A node that is deleted while the query runs has no properties any more.
        return [row for row in found["rows"] if row["id"] is not None]

    def _is_enough(self, found: Row) -> bool:
        if len(found["rows"]) >= self._limit or found["seen"] < found["fetch"]:
            return True
        return bool(found["least"] < self._min_score)

    def _score(self) -> str:
        return f"""WITH n, vector.similarity.cosine(n.{self._index.name}, $vector) AS score
                  WHERE score >= $min_score
                  WITH n, score ORDER BY score DESC, n.uuid LIMIT $nearest
                  WITH collect({{id: n.uuid, score: score, facts: {self._facts}}}) AS rows
                  RETURN {{fetch: 0, rows: rows}} AS found"""

    def _ask_index(self) -> str:
        return f"""CALL db.index.vector.queryNodes($vector_index, $fetch, $vector)
                  YIELD node AS n, score
                  WITH n, score, score >= $min_score AND {self._condition} AS passes
                  ORDER BY score DESC, n.uuid
                  WITH count(*) AS seen, min(score) AS least, collect(CASE WHEN passes THEN
                    {{id: n.uuid, score: score, facts: {self._facts}}} END) AS passed
                  RETURN {{fetch: $fetch, seen: seen, least: least, passing: size(passed),
                    rows: passed[..$nearest]}} AS found"""


def _format_numbers(vector: Vector) -> str:
    """Return the numbers as text: the driver takes eight times as long to send them one by one.

    Nine digits are enough to read the same float32 again.
    """
    values = vector.values()
    return " ".join(["%.9g"] * len(values)) % tuple(values)


def _normalise(vector: Vector) -> list[float]:
    """Return the direction: squares of very long vectors would overflow."""
    values = vector.values()
    norm = math.hypot(*values)
    return [value / norm for value in values]


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
