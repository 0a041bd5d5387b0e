"""Projects and their files in Neo4j."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime

from ragforge.adapters.stores.neo4j import facts
from ragforge.adapters.stores.neo4j import file_nodes as nodes
from ragforge.adapters.stores.neo4j.cypher import (
    FILE_LABELS,
    LOCK,
    Where,
    select_values,
)
from ragforge.adapters.stores.neo4j.directories import add_directories, prune_directories
from ragforge.adapters.stores.neo4j.driver import Database, Transaction
from ragforge.domain.code import Directory, File, FileMark, ParsedFile
from ragforge.domain.rows import encode_file_time, encode_files
from ragforge.domain.schema import FILE
from ragforge.domain.text import check_text
from ragforge.errors import FileNotKnown
from ragforge.ports.words import Tokeniser

ON_DISK = "File"
"""The label of all files that are no web pages."""


class ProjectFiles:
    """The part of `CodeStore` that knows projects, directories and files."""

    _database: Database
    _tokeniser: Tokeniser

    async def change_state(self, project_id: str, old: str, new: str) -> bool:
        check_text("state", new)

        async def work(tx: Transaction) -> bool:
            query = f"""MATCH (n:Project {{uuid: $id}}) {LOCK}
                        WITH n WHERE n.state = $old SET n.state = $new RETURN true"""
            return bool(await tx.rows(query, id=project_id, old=old, new=new))

        return await self._database.write(work)

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
            # What was there is where it was, and facts lead to it.
            new = [row for row in rows if row["uuid"] not in known.files]
            new_scopes = [uuid for uuid in scope_ids if uuid not in known.scopes]
            await add_directories(tx, project_id, [row["path"] for row in new])
            await facts.link_again(tx, [row["uuid"] for row in new], new_scopes)

        await self._database.write(work)

    async def remove_files(self, project_id: str, paths: Sequence[str]) -> None:
        async def work(tx: Transaction) -> None:
            await nodes.lock_project(tx, project_id)
            await nodes.clear(tx, project_id, paths)
            await prune_directories(tx, project_id, paths)

        await self._database.write(work)

    async def mark_files(self, project_id: str, paths: Sequence[str], state: str) -> None:
        check_text("state", state)

        async def work(tx: Transaction) -> None:
            await nodes.lock_project(tx, project_id, nodes.MARK, paths=list(paths), state=state)

        await self._database.write(work)

    async def touch_files(self, project_id: str, times: Mapping[str, datetime | None]) -> None:
        rows = [[path, encode_file_time(time)] for path, time in times.items()]

        async def work(tx: Transaction) -> None:
            change = f"""UNWIND $rows AS row
                MATCH (f:{FILE_LABELS} {{project_id: $project, path: row[0]}})
                SET f.mtime = datetime(row[1])"""
            await nodes.lock_project(tx, project_id, change, rows=rows)

        await self._database.write(work)

    async def file(self, project_id: str, path: str) -> File:
        where = Where().add("n.path = $path", path=path)
        found = await self._files(project_id, where, FILE_LABELS)
        if not found:
            raise FileNotKnown(path)
        return found[0]

    async def files(self, project_id: str, under: str | None = None) -> list[File]:
        return await self._files(project_id, Where().under("path", under), ON_DISK)

    async def web_pages(self, project_id: str) -> list[File]:
        return await self._files(project_id, Where(), "WebPage")

    async def file_marks(
        self, project_id: str, paths: Sequence[str] | None = None
    ) -> dict[str, FileMark]:
        labels, among = (ON_DISK, "") if paths is None else (FILE_LABELS, "AND n.path IN $paths")
        query = f"""MATCH (n:{labels}) WHERE n.project_id = $id {among}
                    RETURN [n.path, n.hash, n.size, n.state] AS row"""
        wanted = None if paths is None else list(paths)
        rows = await self._database.column(query, id=project_id, paths=wanted)
        return {path: FileMark(*mark) for path, *mark in rows}

    async def file_paths(self, project_id: str) -> list[str]:
        query = f"MATCH (n:{ON_DISK}) WHERE n.project_id = $id RETURN n.path"
        return await self._database.column(query, id=project_id)

    async def count_files(self, project_id: str, state: str) -> int:
        query = f"""MATCH (n:{ON_DISK}) WHERE n.project_id = $id AND n.state = $state
                    RETURN count(n)"""
        [count] = await self._database.column(query, id=project_id, state=state)
        return int(count)

    async def newest_files(self, project_id: str, limit: int) -> list[File]:
        query = f"""MATCH (n:{ON_DISK}) WHERE n.project_id = $id
                    RETURN {select_values("n", FILE.read)} AS row
                    ORDER BY n.mtime IS NOT NULL, n.mtime DESC, n.path LIMIT $limit"""
        rows = await self._database.column(query, id=project_id, limit=limit)
        return [FILE.decode_values(row) for row in rows]

    async def directories(self, project_id: str) -> list[Directory]:
        query = """MATCH (n:Directory {project_id: $id})
                   RETURN n {.path, .name, .uuid} ORDER BY n.path"""
        return [Directory(**row) for row in await self._database.column(query, id=project_id)]

    async def _files(self, project_id: str, where: Where, labels: str) -> list[File]:
        where.add("n.project_id = $project", project=project_id)
        query = f"""MATCH (n:{labels}) WHERE {where}
                    RETURN {select_values("n", FILE.read)} AS row ORDER BY n.path"""
        rows = await self._database.column(query, **where.parameters)
        return [FILE.decode_values(row) for row in rows]
