"""The code graph in Neo4j: files with their scopes and relations, written and read."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from ragforge.adapters.stores.neo4j import file_nodes as nodes
from ragforge.adapters.stores.neo4j import links
from ragforge.adapters.stores.neo4j.code_search import Neo4jCodeSearch
from ragforge.adapters.stores.neo4j.cypher import (
    FILE_LABELS,
    SCOPE_LABELS,
    format_match,
    select_values,
)
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.adapters.stores.neo4j.filters import make_filter
from ragforge.adapters.stores.neo4j.relations import (
    add_directories,
    prune_directories,
    put_relations,
    read_relations,
)
from ragforge.domain.code import (
    FileFilter,
    FileLine,
    FileMark,
    ParsedFile,
    Relation,
    RelationFilter,
    Scope,
)
from ragforge.domain.rows import encode_file_values, encode_files, redact_relations
from ragforge.domain.schema import FILE, SCOPE
from ragforge.domain.text import check_id, check_text
from ragforge.errors import ProjectNotFound

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


class Neo4jCodeGraph(Neo4jCodeSearch):
    """Implements `CodeGraph`."""

    async def replace_files(self, project_id: str, files: Sequence[ParsedFile]) -> None:
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
    ) -> dict[str, FileMark]:
        pages = False if paths is None else None
        rows = await self._read_files(
            FileFilter(project_id, paths, pages=pages), "path", *FileMark._fields
        )
        return {path: FileMark(*mark) for path, *mark in rows}

    async def file_paths(self, project_id: str) -> list[str]:
        return [path for [path] in await self._read_files(FileFilter(project_id), "path")]

    async def scopes_at(self, project_id: str, places: Sequence[FileLine]) -> list[Scope | None]:
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
        self, project_id: str, paths: Sequence[str], relations: Sequence[Relation], state: str
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

    async def relations(self, where: RelationFilter) -> list[Relation]:
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

    async def _read_files(self, where: FileFilter, *names: str) -> list[list[Any]]:
        conditions = make_filter(FILE, where)
        query = f"{format_match(FILE, conditions)} RETURN {select_values('n', names)}"
        return await self._database.column(query, **conditions.parameters)
