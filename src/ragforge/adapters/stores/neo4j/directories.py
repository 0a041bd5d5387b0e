"""Directories: they follow from the paths of files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from uuid import NAMESPACE_URL, uuid5

from ragforge.adapters.stores.neo4j.cypher import FILE_LABELS
from ragforge.adapters.stores.neo4j.driver import Transaction


async def add_directories(tx: Transaction, project_id: str, paths: Iterable[str]) -> None:
    """Store every directory that leads to one of the files, and put the files into them."""
    files = [path for path in paths if _parent(path)]
    directories = _above(files)
    await tx.each(
        "MERGE (d:Directory {uuid: row.uuid}) SET d += row",
        [
            {
                "uuid": _id(project_id, path),
                "project_id": project_id,
                "path": path,
                "name": path.rsplit("/", 1)[-1],
            }
            for path in directories
        ],
    )
    await tx.each(
        """MATCH (d:Directory {uuid: row[0]})
           MATCH (parent:Directory {uuid: row[1]}) MERGE (d)-[:IN_DIRECTORY]->(parent)""",
        [
            [_id(project_id, path), _id(project_id, _parent(path))]
            for path in directories
            if _parent(path)
        ],
    )
    await tx.each(
        f"""MATCH (f:{FILE_LABELS} {{project_id: $project, path: row[0]}})
            MATCH (d:Directory {{uuid: row[1]}}) MERGE (f)-[:IN_DIRECTORY]->(d)""",
        [[path, _id(project_id, _parent(path))] for path in files],
        project=project_id,
    )


async def prune_directories(tx: Transaction, project_id: str, paths: Iterable[str]) -> None:
    """Remove directories that led to the files and hold none any more."""
    by_depth = defaultdict(list)
    for path in _above(paths):
        by_depth[path.count("/")].append(_id(project_id, path))
    for depth in sorted(by_depth, reverse=True):  # the innermost first: it empties its parent
        await tx.rows(
            """MATCH (d:Directory) WHERE d.uuid IN $ids AND NOT EXISTS { (d)<-[:IN_DIRECTORY]-() }
               DETACH DELETE d""",
            ids=by_depth[depth],
        )


def _id(project_id: str, path: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"{project_id}/{path}"))


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _above(paths: Iterable[str]) -> list[str]:
    """Return all directories that lead to the paths."""
    found: dict[str, None] = {}
    for path in paths:
        while path := _parent(path):
            found[path] = None
    return list(found)
