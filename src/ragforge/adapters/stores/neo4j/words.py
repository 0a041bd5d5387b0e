"""Words: full-text search over what RagForge's tokeniser made of texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from ragforge.adapters.stores.neo4j.cypher import CypherFilter, select_fields
from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase, Transaction
from ragforge.adapters.stores.neo4j.messages import index_turns
from ragforge.domain.code import SECTION
from ragforge.domain.hits import Match
from ragforge.domain.kinds import Kind, Row, Stored
from ragforge.domain.rows import get_indexed_text
from ragforge.domain.schema import NOTE, SCOPE, SUMMARY
from ragforge.ports.search_index import Tokeniser

MAX_WORDS = 200
_PAGE = 200
_SPARE = 4
"""How many times the limit is read: some hits may be deleted, or as good as others."""
_MAX_TERM = 200
"""The longest text that is one word of an index: Lucene cuts longer ones."""
Indexes: TypeAlias = tuple[str, ...]
"""The names of the indexes that a search asks, all in one query."""
ASK_INDEXES = """UNWIND $searches AS one
        CALL db.index.fulltext.queryNodes(one.index, one.expression, $options)"""
_WHOLE = {"words": 1.0}
_SCOPE_WEIGHTS = {
    "words_name": 4.0,
    "words_path": 2.0,
    "words_signature": 2.0,
    "words_docstring": 1.5,
    "words_source": 1.0,
}
_WEIGHTS: Mapping[str, Mapping[str, float]] = {
    "ragforge_scope_text": _SCOPE_WEIGHTS,
    "ragforge_section_text": _SCOPE_WEIGHTS,
    "ragforge_deed_words": {"deeds": 1.0},
}


async def search(
    database: Neo4jDatabase | Transaction,
    indexes: Indexes,
    words: Sequence[str],
    where: CypherFilter,
    limit: int,
) -> list[Match]:
    """Return the nodes that hold any of the words and pass the filter, best first."""
    rows = await search_rows(database, indexes, words, where, limit)
    return [Match(row["id"], row["score"]) for row in rows]


async def search_rows(
    database: Neo4jDatabase | Transaction,
    indexes: Indexes,
    words: Sequence[str],
    where: CypherFilter,
    limit: int,
    facts: str = "null",
) -> list[Row]:
    """Do as `search`, and return rows of `id`, `score` and the `facts` of the node `n`."""
    if not words or limit <= 0:
        return []
    rows = await database.value(
        format_search(where, facts), **make_parameters(indexes, words, where, limit)
    )
    return drop_deleted(rows)


def format_search(where: CypherFilter, facts: str) -> str:
    """Return the query for nodes by words; its only row has all of them: the driver is slow to
    read many.
    """
    return f"""
        {ASK_INDEXES} YIELD node AS n, score
        WHERE {where}
        WITH n, score ORDER BY score DESC, n.uuid LIMIT $limit
        RETURN collect({{id: n.uuid, score: score, facts: {facts}}}) AS rows"""


def make_parameters(indexes: Indexes, words: Sequence[str], where: CypherFilter, limit: int) -> Row:
    """Return the parameters of a search by words, with those of its filter."""
    # The filter comes before the limit: unless the index knows all of it, all that match are read.
    options = {"limit": _SPARE * limit} if where.is_indexed else {}
    return where.parameters | {
        "searches": [
            {"index": one, "expression": where.narrow(format_query(one, words[:MAX_WORDS]))}
            for one in indexes
        ],
        "options": options,
        "limit": limit,
    }


def drop_deleted(rows: Iterable[Row]) -> list[Row]:
    """Return the rows of nodes that are still there.

    A node that is deleted while the query runs has no properties any more.
    """
    return [row for row in rows if row["id"] is not None]


def make_scope_words(row: Stored, tokeniser: Tokeniser) -> Row:
    """Return the words by which a scope is found, one property for each weight."""
    document, prose = tokeniser.document, tokeniser.prose
    text = prose if row["type"] == SECTION else document
    return {
        "words_name": text(f"{row['name']} {row['qualified_name']}"),
        "words_path": document(row["file"]),
        "words_signature": document(row["signature"]),
        "words_docstring": prose(row["docstring"]),
        "words_source": text(get_indexed_text(row)),
    }


async def reindex(database: Neo4jDatabase, tokeniser: Tokeniser) -> None:
    """Reindex all texts, page by page: the stored words were made by another tokeniser."""
    await _reindex_turns(database, tokeniser)
    for kind in (SUMMARY, NOTE):
        await _reindex_nodes(
            database, kind.name.title(), kind, partial(_make_words, tokeniser, kind)
        )
    for label in ("Scope", "MarkdownSection"):
        await _reindex_nodes(database, label, SCOPE, lambda row: make_scope_words(row, tokeniser))


def _make_words(tokeniser: Tokeniser, kind: Kind[Any, Any], row: Stored) -> Row:
    assert kind.words is not None
    return {"words": tokeniser.prose(kind.words(kind.decode(row)))}


async def _reindex_turns(database: Neo4jDatabase, tokeniser: Tokeniser) -> None:
    async def index_after(tx: Transaction) -> str | None:
        page = await tx.rows(
            """MATCH (m:Message) WHERE m.uuid > $after AND m.role = 'user'
               RETURN m.uuid AS uuid, m.conversation_id AS conversation_id,
                      m.turn_index AS turn_index
               ORDER BY m.uuid LIMIT $page""",
            after=after,
            page=_PAGE,
        )
        turns = [(row["conversation_id"], row["turn_index"]) for row in page]
        await index_turns(tx, turns, tokeniser)
        return page[-1]["uuid"] if page else None

    after: str | None = ""
    while after is not None:
        after = await database.write(index_after)


async def _reindex_nodes(
    database: Neo4jDatabase, label: str, names: Iterable[str], words_of: Callable[[Stored], Row]
) -> None:
    async def index_after(tx: Transaction) -> str | None:
        page = await tx.column(
            f"""MATCH (n:{label}) WHERE n.uuid > $after
                RETURN {select_fields("n", names)} AS row ORDER BY n.uuid LIMIT $page""",
            after=after,
            page=_PAGE,
        )
        await tx.each(
            f"MATCH (n:{label} {{uuid: row.uuid}}) SET n += row.words",
            [{"uuid": row["uuid"], "words": words_of(row)} for row in page],
        )
        return page[-1]["uuid"] if page else None

    after: str | None = ""
    while after is not None:
        after = await database.write(index_after)


def filter_terms(name: str, values: Sequence[str]) -> str | None:
    """Return the Lucene query for one of these values of a property, which does not count as a
    hit; None where one of them is several words there, and so no value.
    """
    if not values or not all(map(_is_term, values)):
        return None
    return f"+{name}:({format_any_of(values)})^0"


def filter_seen(viewer: str | None) -> str | None:
    """Return the Lucene query for what is not private to another; None if Lucene cannot say it.

    A viewer without a mail address is known by a name, which may be a part of another one.
    """
    if viewer is None:
        return ""
    if "@" not in viewer or not _is_term(viewer):
        return None
    return f"-(private_to:[* TO *] -private_to:({format_any_of([viewer])}))"


def _is_term(value: str) -> bool:
    return 0 < len(value) <= _MAX_TERM and not any(map(str.isspace, value))


def format_query(index: str, words: Collection[str]) -> str:
    """Return the Lucene query for any of the words in any of the weighted properties."""
    wanted, weights = format_any_of(words), _WEIGHTS.get(index, _WHOLE)
    return " OR ".join(f"{name}:({wanted})^{weight}" for name, weight in weights.items())


def format_any_of(words: Collection[str]) -> str:
    """Return the Lucene query for any of the words."""
    # Quotes keep words like "or" from being operators.
    return " ".join('"' + re.sub(r'(["\\])', r"\\\1", word) + '"' for word in words)
