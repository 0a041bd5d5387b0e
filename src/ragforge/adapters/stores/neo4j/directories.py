"""Directories: they follow from the paths of files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from ragforge.adapters.stores.neo4j.cypher import FILE_LABELS
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.domain.code import list_directories


async def add_directories(tx: Transaction, project_id: str, paths: Iterable[str]) -> None:
    """Store every directory that leads to one of the files, and put the files into them."""
    files = list(paths)
    directories = list_directories(project_id, files)
    ids = {directory.path: directory.uuid for directory in directories}
    await tx.each(
        "MERGE (d:Directory {uuid: row.uuid}) SET d += row",
        [{**asdict(directory), "project_id": project_id} for directory in directories],
    )
    await tx.each(
        """MATCH (d:Directory {uuid: row[0]})
           MATCH (parent:Directory {uuid: row[1]}) MERGE (d)-[:IN_DIRECTORY]->(parent)""",
        [
            [uuid, ids[parent]]
            for path, uuid in ids.items()
            if (parent := _find_parent(path)) in ids
        ],
    )
    await tx.each(
        f"""MATCH (f:{FILE_LABELS} {{project_id: $project, path: row[0]}})
            MATCH (d:Directory {{uuid: row[1]}}) MERGE (f)-[:IN_DIRECTORY]->(d)""",
        [[path, ids[parent]] for path in files if (parent := _find_parent(path)) in ids],
        project=project_id,
    )


async def prune_directories(tx: Transaction, project_id: str, paths: Iterable[str]) -> None:
    """Remove directories that led to the files and hold none any more."""
    for directory in reversed(list_directories(project_id, paths)):  # inner ones first
        await tx.rows(
            """MATCH (d:Directory {uuid: $id}) WHERE NOT EXISTS { (d)<-[:IN_DIRECTORY]-() }
               DETACH DELETE d""",
            id=directory.uuid,
        )


def _find_parent(path: str) -> str:
    return path.rpartition("/")[0]
