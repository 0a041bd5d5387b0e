"""The code graph in Neo4j: files with their scopes and relations, written, read and searched."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from ragforge.adapters.stores.neo4j import file_nodes as nodes
from ragforge.adapters.stores.neo4j import links, words
from ragforge.adapters.stores.neo4j import vectors as vector_nodes
from ragforge.adapters.stores.neo4j.cypher import (
    FILE_LABELS,
    SCOPE_LABELS,
    CypherFilter,
    format_match,
    select_values,
)
from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase, Transaction
from ragforge.adapters.stores.neo4j.file_nodes import (
    add_directories,
    prune_directories,
    put_relations,
    read_relations,
)
from ragforge.adapters.stores.neo4j.filters import make_filter
from ragforge.adapters.stores.neo4j.vectors import NearestSearch, WordSearch, search_both
from ragforge.domain import code
from ragforge.domain.kinds import Row
from ragforge.domain.rows import encode_file_values, encode_files, redact_relations
from ragforge.domain.schema import FILE, SCOPE, SCOPE_NAME
from ragforge.domain.text import check_id, check_text
from ragforge.domain.vectors import Vector
from ragforge.errors import ProjectNotFound
from ragforge.ports.search_index import Tokeniser

_CODE, _DOCUMENTS = "ragforge_scope_text", "ragforge_section_text"
"""The indexes of the words of both."""
_NAME = select_values("n", SCOPE_NAME.read)
_IMPORTERS = "COUNT { (n)-[:DEFINED_IN]->()<-[:IMPORTS]-() }"
_NAME_WITH_IMPORTERS = f"{_NAME[:-1]}, {_IMPORTERS}]"


class Neo4jCodeGraph:
    """Implements `CodeGraph`."""

    def __init__(self, database: Neo4jDatabase, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser

    async def search(
        self,
        query: str,
        vector: Vector | None,
        where: code.CodeFilter,
        limit: int,
        near: code.CodeFilter | None = None,
        nearest: int | None = None,
        inside: int = 0,
    ) -> code.ScopeMatches:
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
        return code.ScopeMatches(
            _to_matches(held), _to_matches(close), importers, _to_matches(found or [])
        )

    async def files_holding(self, project_id: str, names: Sequence[str]) -> set[str] | None:
        wanted = [self._tokeniser.query(name)[:1] for name in names]
        if not wanted or not all(wanted):
            return None if wanted else set()
        where = _make_filter(code.CodeFilter(project_id))
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
        where = _make_filter(code.CodeFilter(project_id))
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

    async def replace_files(self, project_id: str, files: Sequence[code.ParsedFile]) -> None:
        redactor = self._database.redactor
        rows, scopes = await asyncio.to_thread(encode_files, project_id, files, redactor)
        for scope in scopes:
            del scope["embedding_hash"]  # what a scope was embedded from is the store's to know

        paths = [row["path"] for row in rows]
        file_ids, scope_ids = [row["uuid"] for row in rows], [row["uuid"] for row in scopes]

        async def work(tx: Transaction) -> None:
            known = await nodes.lock_for(tx, project_id, rows, scopes)
            if known.paths:
                await nodes.clear(tx, project_id, paths, [*file_ids, *scope_ids])
            await nodes.put_files(tx, rows, known.files)
            await nodes.put_scopes(tx, scopes, self._tokeniser, known.scopes)
            # Known files are already in their directories, with their references.
            new = [row for row in rows if row["uuid"] not in known.files]
            new_scopes = [uuid for uuid in scope_ids if uuid not in known.scopes]
            await add_directories(tx, project_id, [row["path"] for row in new])
            await links.link_again(tx, [row["uuid"] for row in new], new_scopes)

        await self._database.write(work)

    async def remove_files(self, project_id: str, paths: Sequence[str]) -> None:
        async def work(tx: Transaction) -> None:
            await nodes.lock_project(tx, project_id)
            await nodes.clear(tx, project_id, paths)
            await prune_directories(tx, project_id, paths)

        await self._database.write(work)

    async def set_files(
        self,
        project_id: str,
        field: Literal["state", "mtime"],
        values: Mapping[str, str | datetime | None],
    ) -> None:
        value = "datetime(row[1])" if field == "mtime" else "row[1]"
        change = f"""UNWIND $rows AS row
                     MATCH (f:{FILE_LABELS} {{project_id: $project, path: row[0]}})
                     SET f.{field} = {value}"""
        rows = [list(pair) for pair in encode_file_values(field, values).items()]
        await self._database.write(lambda tx: nodes.lock_project(tx, project_id, change, rows=rows))

    async def file_marks(
        self, project_id: str, paths: Sequence[str] | None = None
    ) -> dict[str, code.FileMark]:
        pages = False if paths is None else None
        rows = await self._read_files(
            code.FileFilter(project_id, paths, pages=pages), "path", *code.FileMark._fields
        )
        return {path: code.FileMark(*mark) for path, *mark in rows}

    async def file_paths(self, project_id: str) -> list[str]:
        return [path for [path] in await self._read_files(code.FileFilter(project_id), "path")]

    async def scopes_at(
        self, project_id: str, places: Sequence[code.FileLine]
    ) -> list[code.Scope | None]:
        query = f"""UNWIND $places AS place
            CALL (place) {{
              MATCH (:{FILE_LABELS} {{project_id: $project, path: place[1]}})
                    <-[:DEFINED_IN]-(s:{SCOPE_LABELS})
              WHERE s.startLine <= place[2] <= s.endLine
              RETURN {select_values("s", SCOPE.read)} AS scope
              ORDER BY s.endLine - s.startLine, s.startLine DESC, s.uuid LIMIT 1
            }}
            RETURN place[0] AS number, scope"""
        asked = [[number, place.file, place.line] for number, place in enumerate(places)]
        rows = await self._database.rows(query, project=project_id, places=asked)
        found = {row["number"]: SCOPE.decode_values(row["scope"]) for row in rows}
        return [found.get(number) for number in range(len(places))]

    async def relate_files(
        self, project_id: str, paths: Sequence[str], relations: Sequence[code.Relation], state: str
    ) -> None:
        check_text("state", state)
        for relation in relations:
            check_id("relation.source", relation.source)
            check_id("relation.target", relation.target)

        clean = redact_relations(relations, self._database.redactor)

        async def work(tx: Transaction) -> None:
            first = (
                f"{nodes.LOCK_PROJECT} CALL () {{ {nodes.FORGET_RELATIONS} SET f.state = $state }}"
            )
            edges = [(project_id, relation) for relation in clean]
            given = {"project": project_id, "paths": list(paths), "state": state}
            if not await put_relations(tx, edges, first, **given):
                raise ProjectNotFound(project_id)

        await self._database.write(work)

    async def relations(self, where: code.RelationFilter) -> list[code.Relation]:
        return await self._database.read(lambda tx: read_relations(tx, where))

    async def importers(self, project_id: str, paths: Sequence[str]) -> Mapping[str, int]:
        rows = await self._database.rows(
            f"""MATCH (f:{FILE_LABELS}) WHERE f.project_id = $project AND f.path IN $paths
                MATCH (f)<-[:IMPORTS]-(other)
                RETURN f.path AS path, count(other) AS importers""",
            project=project_id,
            paths=list(paths),
        )
        return {row["path"]: row["importers"] for row in rows}

    async def copy_vectors(
        self, project_ids: Sequence[str], scope_ids: Sequence[str], model: str
    ) -> set[str]:
        check_text("model", model)
        given = {"ids": list(scope_ids), "projects": list(project_ids), "model": model}

        async def work(tx: Transaction) -> set[str]:
            labels = SCOPE_LABELS.split("|")  # each by its own index
            return {
                uuid
                for label in labels
                for uuid in await tx.column(_COPY_VECTORS.replace("LABEL", label), **given)
            }

        return await self._database.write(work)

    async def _read_files(self, where: code.FileFilter, *names: str) -> list[list[Any]]:
        conditions = make_filter(FILE, where)
        query = f"{format_match(FILE, conditions)} RETURN {select_values('n', names)}"
        return await self._database.column(query, **conditions.parameters)


def _format_inside(where: code.CodeFilter) -> str:
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


def _pick_index(where: code.CodeFilter) -> str:
    return _DOCUMENTS if where.sections else _CODE


def _pick_vector_index(where: code.CodeFilter) -> vector_nodes.VectorIndex:
    if where.sections:
        return vector_nodes.SECTIONS
    is_whole = where.types and set(where.types) <= set(code.WHOLE_FILES)
    return vector_nodes.WHOLE_FILES if is_whole else vector_nodes.SCOPES


def _to_matches(rows: Sequence[Row]) -> list[code.ScopeMatch]:
    return [code.ScopeMatch(_decode_name(row["facts"]), row["score"]) for row in rows]


def _decode_name(stored: Sequence[Any]) -> code.ScopeName:
    """Return the name and place of a scope, whose values other facts may follow."""
    return code.ScopeName(*stored[: len(SCOPE_NAME.read)])


def _make_filter(where: code.CodeFilter) -> CypherFilter:
    conditions, project = CypherFilter(), where.project_id
    if project is not None:
        in_index = words.filter_terms("project_id", [project])
        conditions.add("n.project_id = $project", in_index, project=project)
    conditions.add("n.type IN $types", types=list(where.types) or None)
    conditions.add("n.file_path IN $files", files=list(where.files) or None)
    return conditions.under("file_path", where.under)


_COPY_VECTORS = """
    UNWIND $ids AS id MATCH (s:LABEL {uuid: id})
    UNWIND $projects AS project
    MATCH (o:LABEL {project_id: project, qualified_name_key: s.qualified_name_key})
    WHERE o <> s AND o.qualified_name = s.qualified_name AND o.file = s.file AND o.type = s.type
      AND o.hash = s.hash AND o.embedding_model = $model AND o.embedding_hash = s.hash
    WITH s, head(collect(o)) AS o
    SET s.embedding = o.embedding, s.embedding_model = o.embedding_model,
        s.embedding_key = o.embedding_key, s.embedding_hash = o.embedding_hash
    RETURN s.uuid"""
