"""Scopes in Neo4j: looked up, and found by words and by meaning."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragforge.adapters.stores.neo4j import vectors as vector_nodes
from ragforge.adapters.stores.neo4j import words
from ragforge.adapters.stores.neo4j.both import WordSearch, search_both
from ragforge.adapters.stores.neo4j.cypher import (
    FILE_LABELS,
    SCOPE_LABELS,
    Where,
    index_key,
    select_values,
)
from ragforge.adapters.stores.neo4j.driver import Database, Transaction
from ragforge.domain.code import (
    WHOLE_FILES,
    CodeFilter,
    FileLine,
    Scope,
    ScopeMatch,
    ScopeMatches,
    ScopeName,
)
from ragforge.domain.kinds import Row
from ragforge.domain.schema import SCOPE, SCOPE_NAME
from ragforge.domain.text import check_text
from ragforge.domain.vectors import Vector
from ragforge.errors import ScopeNotFound
from ragforge.ports.code import ScopeVector
from ragforge.ports.words import Tokeniser

_CODE, _DOCUMENTS = "ragforge_scope_text", "ragforge_section_text"
"""The indexes of the words of both."""
_ROW = select_values("s", SCOPE.read)
_NAME = select_values("s", SCOPE_NAME)
_FOUND_NAME = select_values("n", SCOPE_NAME)
_IMPORTERS = "COUNT { (n)-[:DEFINED_IN]->()<-[:IMPORTS]-() }"
_FOUND_WITH_IMPORTERS = f"{_FOUND_NAME[:-1]}, {_IMPORTERS}]"
_TO_EMBED = """(s.embedding_model IS NULL OR s.embedding_model <> $model
                OR s.embedding_hash IS NULL OR s.embedding_hash <> s.hash)"""
# Each label and name by its own index: of one condition with OR, all scopes would be read.
_NAMED = " UNION ".join(
    f"""MATCH (s:{label} {{project_id: $project, {key}: key}})
        USING INDEX s:{label}(project_id, {key}) RETURN s"""
    for label in SCOPE_LABELS.split("|")
    for key in ("name_key", "qualified_name_key")
)
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
_IN_FILE = f"""MATCH (:{FILE_LABELS} {{project_id: $project, path: place.file}})
               <-[:DEFINED_IN]-(s:{SCOPE_LABELS})"""


class Scopes:
    """The part of `CodeStore` that finds scopes."""

    _database: Database
    _tokeniser: Tokeniser

    async def scope(self, scope_id: str) -> Scope:
        found = await self.scopes([scope_id])
        if scope_id not in found:
            raise ScopeNotFound(scope_id)
        return found[scope_id]

    async def scopes(self, scope_ids: Sequence[str]) -> dict[str, Scope]:
        query = f"MATCH (s:{SCOPE_LABELS}) WHERE s.uuid IN $ids RETURN {_ROW} AS row"
        return {scope.uuid: scope for scope in await self._scopes(query, ids=list(scope_ids))}

    async def scope_names(self, scope_ids: Sequence[str]) -> dict[str, ScopeName]:
        query = f"MATCH (s:{SCOPE_LABELS}) WHERE s.uuid IN $ids RETURN {_NAME} AS row"
        rows = await self._database.column(query, ids=list(scope_ids))
        return {name.uuid: name for name in map(_decode_name, rows)}

    async def names_in(self, project_id: str, paths: Sequence[str]) -> list[ScopeName]:
        query = f"""UNWIND $paths AS path WITH {{file: path}} AS place {_IN_FILE}
                    RETURN {_NAME} AS row ORDER BY s.file, s.startLine, s.endLine DESC, s.uuid"""
        found = dict.fromkeys(paths)
        rows = await self._database.column(query, project=project_id, paths=list(found))
        return [_decode_name(row) for row in rows]

    async def scopes_in(self, project_id: str, *paths: str) -> list[Scope]:
        query = f"""UNWIND $paths AS path WITH {{file: path}} AS place {_IN_FILE}
                    RETURN {_ROW} AS row ORDER BY s.file, s.startLine, s.endLine DESC, s.uuid"""
        return await self._scopes(query, project=project_id, paths=list(dict.fromkeys(paths)))

    async def scopes_named(
        self, project_id: str, names: Collection[str]
    ) -> dict[str, list[ScopeName]]:
        query = f"""UNWIND range(0, size($keys) - 1) AS number
                    WITH number, $keys[number] AS key CALL (key) {{ {_NAMED} }}
                    RETURN [number, {_NAME}] AS row ORDER BY s.file, s.startLine, s.uuid"""
        asked = list(dict.fromkeys(names))
        keys = [index_key(name) for name in asked]
        found: dict[str, list[ScopeName]] = {}
        for number, row in await self._database.column(query, project=project_id, keys=keys):
            found.setdefault(asked[number], []).append(_decode_name(row))
        return found

    async def scopes_with_hash(self, project_id: str, hash: str) -> list[ScopeName]:
        query = f"""MATCH (s:{SCOPE_LABELS}) WHERE s.project_id = $project AND s.hash = $hash
                    RETURN {_NAME} AS row ORDER BY s.file, s.startLine, s.uuid"""
        rows = await self._database.column(query, project=project_id, hash=hash)
        return [_decode_name(row) for row in rows]

    async def scopes_at(self, project_id: str, places: Sequence[FileLine]) -> list[Scope | None]:
        query = f"""UNWIND $places AS place
                    CALL (place) {{
                      {_IN_FILE} WHERE s.startLine <= place.line <= s.endLine
                      RETURN {_ROW} AS scope
                      ORDER BY s.endLine - s.startLine, s.startLine DESC, s.uuid LIMIT 1
                    }}
                    RETURN place.number AS number, scope"""
        rows = await self._database.rows(
            query,
            project=project_id,
            places=[
                {"number": number, "file": place.file, "line": place.line}
                for number, place in enumerate(places)
            ],
        )
        found = {row["number"]: SCOPE.decode_values(row["scope"]) for row in rows}
        return [found.get(number) for number in range(len(places))]

    async def embed(self, vectors: Sequence[ScopeVector]) -> None:
        for item in vectors:
            check_text("embedding_hash", item.embedding_hash)
        new = {item.scope_id: item.vector for item in vectors}
        hashes = [[item.scope_id, item.embedding_hash] for item in vectors]
        await self._database.write(lambda tx: put_vectors(tx, new, hashes))

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

    async def scopes_to_embed(
        self,
        project_id: str,
        model: str,
        limit: int,
        after: str = "",
        files: Sequence[str] | None = None,
    ) -> list[Scope]:
        inside = "" if files is None else "AND s.file IN $files"
        query = f"""MATCH (s:{SCOPE_LABELS})
                    WHERE s.project_id = $project AND s.uuid > $after {inside} AND {_TO_EMBED}
                    RETURN {_ROW} AS row ORDER BY s.uuid LIMIT $limit"""
        wanted = None if files is None else list(files)
        return await self._scopes(
            query, project=project_id, model=model, limit=limit, after=after, files=wanted
        )

    async def count_scopes(self, project_id: str, model: str | None) -> tuple[int, int]:
        [row] = await self._database.rows(
            f"""MATCH (s:{SCOPE_LABELS}) WHERE s.project_id = $project
                RETURN count(CASE WHEN {_TO_EMBED} THEN 1 END) AS missing, count(*) AS every""",
            project=project_id,
            model=model,
        )
        return 0 if model is None else row["missing"], row["every"]

    async def by_words(self, query: str, where: CodeFilter, limit: int) -> list[ScopeMatch]:
        wanted, conditions = self._tokeniser.query(query), _make_filter(where)
        rows = await words.search_rows(
            self._database, _pick_index(where), wanted, conditions, limit, _FOUND_NAME
        )
        return _to_matches(rows)

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

    async def known_words(self, project_id: str, asked: Sequence[str]) -> set[str]:
        held = await self.count_holding(project_id, asked, 1)
        return {word for word, count in held.items() if count}

    async def count_holding(
        self, project_id: str, asked: Sequence[str], most: int
    ) -> dict[str, int]:
        where = _make_filter(CodeFilter(project_id))
        wanted = {word: self._tokeniser.query(word) for word in asked}
        rows = await self._database.rows(
            f"""UNWIND $wanted AS one
                CALL (one) {{
                  CALL db.index.fulltext.queryNodes($index, one.expression) YIELD node AS n
                  WHERE {where} WITH n LIMIT $most RETURN count(n) AS held
                }}
                RETURN one.word AS word, held""",
            wanted=[
                {"word": word, "expression": where.narrow(words.format_query(_CODE, some))}
                for word, some in wanted.items()
                if some
            ],
            index=_CODE,
            most=max(most, 0),
            **where.parameters,
        )
        return dict.fromkeys(asked, 0) | {row["word"]: row["held"] for row in rows}

    async def by_vector(
        self, vector: Vector, where: CodeFilter, limit: int, min_score: float = 0.0
    ) -> list[ScopeMatch]:
        rows = await self._database.read(
            lambda tx: vector_nodes.find_nearest_rows(
                tx, _pick_shelf(where), vector, _make_filter(where), limit, min_score, _FOUND_NAME
            )
        )
        return _to_matches(rows)

    async def by_words_and_vector(
        self,
        query: str,
        where: CodeFilter,
        limit: int,
        vector: Vector | None,
        near: CodeFilter,
        nearest: int,
        inside: int = 0,
    ) -> ScopeMatches:
        facts = _FOUND_NAME if where.sections else _FOUND_WITH_IMPORTERS
        by_words = WordSearch(
            _pick_index(where), self._tokeniser.query(query), _make_filter(where), limit
        )
        search = None
        if vector is not None:
            search = vector_nodes.NearestSearch(
                _pick_shelf(near), vector, _make_filter(near), nearest, 0.0, facts
            )
        in_files = _format_inside(where) if inside > 0 else None
        held, close, found = await search_both(
            self._database, by_words, search, facts, in_files, inside=inside
        )
        if found is None and vector is not None and inside > 0:
            files = {_decode_name(row["facts"]).file for row in close}
            in_them = await self._find_inside(vector, where, files, inside)
        else:
            in_them = _to_matches(found or [])
        importers = {
            _decode_name(row["facts"]).file: row["facts"][-1]
            for row in (*held, *close)
            if not where.sections and row["facts"][-1]
        }
        return ScopeMatches(_to_matches(held), _to_matches(close), importers, in_them)

    async def _find_inside(
        self, vector: Vector, where: CodeFilter, files: Collection[str], limit: int
    ) -> list[ScopeMatch]:
        if not files:
            return []
        return await self.by_vector(vector, replace(where, files=tuple(files)), limit)

    async def _scopes(self, query: str, **parameters: Any) -> list[Scope]:
        rows = await self._database.column(query, **parameters)
        return [SCOPE.decode_values(row) for row in rows]


async def put_vectors(
    tx: Transaction, vectors: Mapping[str, Vector], hashes: Sequence[Sequence[str]]
) -> None:
    """Set the vectors of scopes of code or documents, and what text each was made of.

    Raises InvalidVector, DimensionMismatch, ScopeNotFound.
    """
    made_of = {uuid: {"embedding_hash": hash} for uuid, hash in hashes}
    missing = await vector_nodes.put(tx, vector_nodes.SCOPES, vectors, made_of)
    sections = {uuid: vectors[uuid] for uuid in missing}
    for unknown in await vector_nodes.put(tx, vector_nodes.SECTIONS, sections, made_of):
        raise ScopeNotFound(unknown)


def _format_inside(where: CodeFilter) -> str:
    """Return the search for the nearest scopes in the files of `rows`."""
    shelf, place = _pick_shelf(where), SCOPE_NAME.index("file")
    return f"""
        WITH [row IN rows | row.facts[{place}]] AS files
        MATCH (n:{shelf.label})
        WHERE n.{shelf.key} = $key AND {_make_filter(where)} AND n.file_path IN files
        WITH n, vector.similarity.cosine(n.{shelf.name}, $vector) AS score
        WHERE score >= $min_score
        WITH n, score ORDER BY score DESC, n.uuid LIMIT $inside
        RETURN collect({{id: n.uuid, score: score, facts: {_FOUND_NAME}}}) AS further"""


def _pick_index(where: CodeFilter) -> str:
    return _DOCUMENTS if where.sections else _CODE


def _pick_shelf(where: CodeFilter) -> vector_nodes.Shelf:
    if where.sections:
        return vector_nodes.SECTIONS
    is_whole = where.types and set(where.types) <= set(WHOLE_FILES)
    return vector_nodes.WHOLE_FILES if is_whole else vector_nodes.SCOPES


def _to_matches(rows: Sequence[Row]) -> list[ScopeMatch]:
    return [ScopeMatch(_decode_name(row["facts"]), row["score"]) for row in rows]


def _decode_name(stored: Sequence[Any]) -> ScopeName:
    """Return the name and place of a scope, whose values other facts may follow."""
    return ScopeName(*stored[: len(SCOPE_NAME)])


def _make_filter(where: CodeFilter) -> Where:
    conditions, project = Where(), where.project_id
    if project is not None:
        in_index = words.filter_terms("project_id", [project])
        conditions.add("n.project_id = $project", in_index, project=project)
    conditions.add("n.type IN $types", types=list(where.types) or None)
    conditions.add("n.file_path IN $files", files=list(where.files) or None)
    return conditions.under("file_path", where.under)
