"""Code search in Neo4j: finding scopes by words and by meaning."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragforge.adapters.stores.neo4j import vectors as vector_nodes
from ragforge.adapters.stores.neo4j import words
from ragforge.adapters.stores.neo4j.cypher import CypherFilter, select_values
from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase
from ragforge.adapters.stores.neo4j.hybrid_search import WordSearch, search_both
from ragforge.adapters.stores.neo4j.vectors import NearestSearch
from ragforge.domain.code import WHOLE_FILES, CodeFilter, ScopeMatch, ScopeMatches, ScopeName
from ragforge.domain.kinds import Row
from ragforge.domain.schema import SCOPE_NAME
from ragforge.domain.vectors import Vector
from ragforge.ports.words import Tokeniser

_CODE, _DOCUMENTS = "ragforge_scope_text", "ragforge_section_text"
"""The indexes of the words of both."""
_NAME = select_values("n", SCOPE_NAME.read)
_IMPORTERS = "COUNT { (n)-[:DEFINED_IN]->()<-[:IMPORTS]-() }"
_NAME_WITH_IMPORTERS = f"{_NAME[:-1]}, {_IMPORTERS}]"


class Neo4jCodeSearch:
    """The part of `CodeGraph` that searches."""

    def __init__(self, database: Neo4jDatabase, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser

    async def search(
        self,
        query: str,
        vector: Vector | None,
        where: CodeFilter,
        limit: int,
        near: CodeFilter | None = None,
        nearest: int | None = None,
        inside: int = 0,
    ) -> ScopeMatches:
        near, nearest = near or where, limit if nearest is None else nearest
        facts = _NAME if where.sections else _NAME_WITH_IMPORTERS
        by_words = WordSearch(
            (_pick_index(where),), self._tokeniser.query(query), _make_filter(where), limit
        )
        search = None
        if vector is not None:
            search = NearestSearch(
                _pick_vector_index(near), vector, _make_filter(near), nearest, 0.0, facts
            )
        in_files = _format_inside(where) if inside > 0 else None
        held, close, found = await search_both(
            self._database, by_words, search, facts, in_files, inside=inside
        )
        if found is None and vector is not None and inside > 0:
            files = tuple({_decode_name(row["facts"]).file for row in close})
            within = _make_filter(replace(where, files=files))
            again = NearestSearch(_pick_vector_index(where), vector, within, inside, 0.0, _NAME)
            found = await self._database.read(again.find) if files else []
        importers = {
            _decode_name(row["facts"]).file: row["facts"][-1]
            for row in (*held, *close)
            if not where.sections and row["facts"][-1]
        }
        return ScopeMatches(
            _to_matches(held), _to_matches(close), importers, _to_matches(found or [])
        )

    async def files_holding(self, project_id: str, names: Sequence[str]) -> set[str] | None:
        wanted = [self._tokeniser.query(name)[:1] for name in names]
        if not wanted or not all(wanted):
            return None if wanted else set()
        where = _make_filter(CodeFilter(project_id))
        query = f"""CALL db.index.fulltext.queryNodes($index, $expression)
                    YIELD node AS n WHERE {where} RETURN DISTINCT n.file_path"""
        expression = f"words_source:({words.format_any_of([word for [word] in wanted])})"
        given = {"index": _CODE, "expression": where.narrow(expression)}
        return set(await self._database.column(query, **given, **where.parameters))

    async def count_holding(
        self,
        project_id: str,
        asked: Mapping[str, Collection[str]],
        limit: int,
        documents: bool = False,
    ) -> dict[str, int]:
        where = _make_filter(CodeFilter(project_id))
        rows = await self._database.rows(
            f"""UNWIND $wanted AS one UNWIND $indexes AS index
                CALL (one, index) {{
                  CALL db.index.fulltext.queryNodes(index, one.expression) YIELD node AS n
                  WHERE {where} WITH n LIMIT $limit RETURN count(n) AS held
                }}
                RETURN one.word AS word, sum(held) AS held""",
            wanted=[
                {"word": word, "expression": where.narrow(words.format_query(_CODE, some))}
                for word, some in asked.items()
                if some
            ],
            indexes=[_CODE, _DOCUMENTS] if documents else [_CODE],
            limit=max(limit, 0),
            **where.parameters,
        )
        return dict.fromkeys(asked, 0) | {row["word"]: row["held"] for row in rows}


def _format_inside(where: CodeFilter) -> str:
    """Return the search for the nearest scopes in the files of `rows`."""
    index, place = _pick_vector_index(where), SCOPE_NAME.read.index("file")
    return f"""
        WITH [row IN rows | row.facts[{place}]] AS files
        MATCH (n:{index.label})
        WHERE n.{index.key} = $key AND {_make_filter(where)} AND n.file_path IN files
        WITH n, vector.similarity.cosine(n.{index.name}, $vector) AS score
        WHERE score >= $min_score
        WITH n, score ORDER BY score DESC, n.uuid LIMIT $inside
        RETURN collect({{id: n.uuid, score: score, facts: {_NAME}}}) AS further"""


def _pick_index(where: CodeFilter) -> str:
    return _DOCUMENTS if where.sections else _CODE


def _pick_vector_index(where: CodeFilter) -> vector_nodes.VectorIndex:
    if where.sections:
        return vector_nodes.SECTIONS
    is_whole = where.types and set(where.types) <= set(WHOLE_FILES)
    return vector_nodes.WHOLE_FILES if is_whole else vector_nodes.SCOPES


def _to_matches(rows: Sequence[Row]) -> list[ScopeMatch]:
    return [ScopeMatch(_decode_name(row["facts"]), row["score"]) for row in rows]


def _decode_name(stored: Sequence[Any]) -> ScopeName:
    """Return the name and place of a scope, whose values other facts may follow."""
    return ScopeName(*stored[: len(SCOPE_NAME.read)])


def _make_filter(where: CodeFilter) -> CypherFilter:
    conditions, project = CypherFilter(), where.project_id
    if project is not None:
        in_index = words.filter_terms("project_id", [project])
        conditions.add("n.project_id = $project", in_index, project=project)
    conditions.add("n.type IN $types", types=list(where.types) or None)
    conditions.add("n.file_path IN $files", files=list(where.files) or None)
    return conditions.under("file_path", where.under)
