"""Relations: the edges between scopes, files and libraries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple
from typing import Any

from ragforge.adapters.stores.neo4j.cypher import FILE_LABELS, SCOPE_LABELS
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.domain.code import (
    RELATION_KINDS,
    Relation,
    RelationFilter,
    RelationKind,
    list_directories,
)
from ragforge.errors import FileNotKnown, NotFound, ScopeNotFound

LIBRARY_LABEL = "ExternalLibrary"
_ENDS: dict[RelationKind, tuple[str, str]] = {
    "HAS_PARENT": (SCOPE_LABELS, SCOPE_LABELS),
    "CONSUMES": (SCOPE_LABELS, SCOPE_LABELS),
    "INHERITS_FROM": (SCOPE_LABELS, SCOPE_LABELS),
    "IMPORTS": (FILE_LABELS, FILE_LABELS),
    "USES_LIBRARY": (FILE_LABELS, LIBRARY_LABEL),
}
_NODES = f"{SCOPE_LABELS}|{FILE_LABELS}"
_EDGE = """type(e) AS kind, startNode(e).uuid AS source,
    coalesce(endNode(e).uuid, endNode(e).name) AS target"""


async def read_relations(tx: Transaction, where: RelationFilter) -> list[Relation]:
    """Return the relations that pass a filter, by kind, source and target."""
    types = "|".join(kind for kind in RELATION_KINDS if where.kinds is None or kind in where.kinds)
    if not types:
        return []
    if where.nodes is not None:
        starts = (
            f"MATCH (n:{_NODES}) WHERE n.uuid IN $nodes",
            f"MATCH (n:{LIBRARY_LABEL}) WHERE n.name IN $nodes",
        )
    else:
        files = f"MATCH (n:{FILE_LABELS}) WHERE n.project_id = $project AND n.path IN $paths"
        starts = (files, f"{files} MATCH (n)<-[:DEFINED_IN]-(s:{SCOPE_LABELS}) WITH s AS n")
    side = "-" if where.nodes is not None else "->"
    query = " UNION ".join(
        f"{start} MATCH (n)-[e:{types}]{side}() RETURN {_EDGE}" for start in starts
    )
    found = await tx.rows(
        query,
        nodes=list(where.nodes or ()),
        project=where.project_id,
        paths=list(where.files),
    )
    return sorted((Relation(*row.values()) for row in found), key=astuple)


def _format_put(kind: RelationKind) -> str:
    """Return the subquery that adds the relations of one kind and counts them."""
    source, target = _ENDS[kind]
    end = f"MATCH (b:{target} {{uuid: row[1]}})"
    if target == LIBRARY_LABEL:
        end = f"MERGE (b:{LIBRARY_LABEL} {{name: row[1]}})"
    return f"""CALL () {{
        UNWIND $rows.{kind} AS row MATCH (a:{source} {{uuid: row[0]}}) {end}
        MERGE (a)-[e:{kind}]->(b) ON CREATE SET e.project_id = row[2]
        RETURN count(*) AS {kind} }}"""


# One query for all kinds: a server takes longer to plan one than to run it.
_PUT = f"""{" ".join(map(_format_put, RELATION_KINDS))}
    RETURN {{{", ".join(f"{kind}: {kind}" for kind in RELATION_KINDS)}}} AS made"""


async def put_relations(
    tx: Transaction, relations: Sequence[tuple[str, Relation]], first: str = "", **parameters: Any
) -> bool:
    """Add relations, each with its project; one that is there stays.

    Something else may come first in the same query: where that finds no row, nothing is added and
    False returned. Raises ScopeNotFound or FileNotKnown if an end is unknown.
    """
    rows: dict[RelationKind, list[tuple[str, str, str]]] = {kind: [] for kind in RELATION_KINDS}
    for project, one in relations:
        rows[one.kind].append((one.source, one.target, project))
    made = await tx.value(f"{first} {_PUT}", rows=rows, **parameters)
    if made is None:
        return False
    for kind, wanted in rows.items():
        if made[kind] < len(wanted):  # an end was not found: which?
            source, target = _ENDS[kind]
            await _check_known(tx, source, [row[0] for row in wanted])
            if target != LIBRARY_LABEL:
                await _check_known(tx, target, [row[1] for row in wanted])
    return True


async def _check_known(tx: Transaction, labels: str, ids: list[str]) -> None:
    wanted = list(dict.fromkeys(ids))
    query = f"MATCH (n:{labels}) WHERE n.uuid IN $ids RETURN n.uuid"
    known = set(await tx.column(query, ids=wanted))
    error: type[NotFound] = ScopeNotFound if labels == SCOPE_LABELS else FileNotKnown
    for unknown in ids:
        if unknown not in known:
            raise error(unknown)


async def add_directories(tx: Transaction, project_id: str, paths: Iterable[str]) -> None:
    """Store every directory above one of the files, and put the files into them."""
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
