"""Relations: the edges between scopes, files and libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

from ragforge.adapters.stores.neo4j.cypher import FILE_LABELS, SCOPE_LABELS
from ragforge.adapters.stores.neo4j.driver import Database, Transaction
from ragforge.adapters.stores.neo4j.file_nodes import FORGET_RELATIONS, lock_project
from ragforge.domain.code import RELATION_KINDS, Direction, Relation, RelationKind
from ragforge.domain.kinds import Row
from ragforge.domain.rows import redact_relations
from ragforge.domain.text import check_id, check_text
from ragforge.errors import FileNotKnown, NotFound, ScopeNotFound

LIBRARY_LABEL = "ExternalLibrary"
_ENDS: dict[RelationKind, tuple[str, str]] = {
    "HAS_PARENT": (SCOPE_LABELS, SCOPE_LABELS),
    "CONSUMES": (SCOPE_LABELS, SCOPE_LABELS),
    "INHERITS_FROM": (SCOPE_LABELS, SCOPE_LABELS),
    "IMPORTS": (FILE_LABELS, FILE_LABELS),
    "USES_LIBRARY": (FILE_LABELS, LIBRARY_LABEL),
}
_NODES = "Scope|MarkdownSection|File|WebPage"


class Relations:
    """The part of `CodeStore` that relates code to code."""

    _database: Database

    async def relate_files(
        self, project_id: str, paths: Sequence[str], relations: Sequence[Relation], state: str
    ) -> None:
        check_text("state", state)
        for relation in relations:
            check_id("relation.source", relation.source)
            check_id("relation.target", relation.target)

        clean = redact_relations(relations, self._database.redactor)

        async def work(tx: Transaction) -> None:
            change = f"{FORGET_RELATIONS} SET f.state = $state"
            await lock_project(tx, project_id, change, paths=list(paths), state=state)
            await put_relations(tx, [(project_id, relation) for relation in clean])

        await self._database.write(work)

    async def relations(
        self,
        node_id: str,
        direction: Direction,
        kinds: Sequence[RelationKind] | None = None,
    ) -> list[Relation]:
        wanted = [kind for kind in RELATION_KINDS if kinds is None or kind in kinds]
        if not wanted:
            return []
        types = "|".join(wanted)
        ends = f"-[e:{types}]->(other)" if direction == "out" else f"<-[e:{types}]-(other)"
        query = f"""MATCH (n:{_NODES} {{uuid: $id}}){ends} RETURN {_EDGE}
                    UNION ALL
                    MATCH (n:{LIBRARY_LABEL} {{name: $id}}){ends} RETURN {_EDGE}"""
        found = await self._database.rows(query, id=node_id)
        return _sort_edges(found)

    async def relations_from(self, project_id: str, paths: Sequence[str]) -> list[Relation]:
        types = "|".join(RELATION_KINDS)
        files = f"MATCH (f:{FILE_LABELS}) WHERE f.project_id = $project AND f.path IN $paths"
        query = f"""{files} MATCH (f)-[e:{types}]->() RETURN {_EDGE}
                    UNION ALL
                    {files} MATCH (f)<-[:DEFINED_IN]-(s:{SCOPE_LABELS})-[e:{types}]->()
                    RETURN {_EDGE}"""
        found = await self._database.rows(query, project=project_id, paths=list(paths))
        return _sort_edges(found)

    async def importers(self, project_id: str, paths: Sequence[str]) -> Mapping[str, int]:
        rows = await self._database.rows(
            f"""MATCH (f:{FILE_LABELS}) WHERE f.project_id = $project AND f.path IN $paths
                MATCH (f)<-[:IMPORTS]-(other)
                RETURN f.path AS path, count(other) AS importers""",
            project=project_id,
            paths=list(paths),
        )
        return {row["path"]: row["importers"] for row in rows}


_EDGE = """type(e) AS kind, startNode(e).uuid AS source,
    coalesce(endNode(e).uuid, endNode(e).name) AS target"""


def _sort_edges(found: Sequence[Row]) -> list[Relation]:
    edges = [Relation(row["kind"], row["source"], row["target"]) for row in found]
    return sorted(edges, key=lambda edge: (edge.kind, edge.source, edge.target))


async def put_relations(tx: Transaction, relations: Sequence[tuple[str, Relation]]) -> None:
    """Add relations, each with its project; one that is there stays.

    Raises ScopeNotFound or FileNotKnown if an end is unknown.
    """
    for kind in get_args(RelationKind):
        rows = [(one.source, one.target, project) for project, one in relations if one.kind == kind]
        if rows:
            await _put(tx, kind, rows)


async def _put(tx: Transaction, kind: RelationKind, rows: list[tuple[str, str, str]]) -> None:
    """Add relations of one kind: source, target and project of each."""
    source, target = _ENDS[kind]
    if target == LIBRARY_LABEL:
        end = f"MERGE (b:{LIBRARY_LABEL} {{name: row[1]}})"
    else:
        end = f"MATCH (b:{target} {{uuid: row[1]}})"
    [made] = await tx.each(
        f"""MATCH (a:{source} {{uuid: row[0]}}) {end}
            MERGE (a)-[e:{kind}]->(b) ON CREATE SET e.project_id = row[2]
            RETURN count(*) AS rows""",
        rows,
    )
    if made["rows"] < len(rows):  # an end was not found: which?
        await _check_known(tx, source, [row[0] for row in rows])
        if target != LIBRARY_LABEL:
            await _check_known(tx, target, [row[1] for row in rows])


async def _check_known(tx: Transaction, labels: str, ids: list[str]) -> None:
    wanted = list(dict.fromkeys(ids))
    query = f"MATCH (n:{labels}) WHERE n.uuid IN $ids RETURN n.uuid"
    known = set(await tx.column(query, ids=wanted))
    error: type[NotFound] = ScopeNotFound if labels == SCOPE_LABELS else FileNotKnown
    for unknown in ids:
        if unknown not in known:
            raise error(unknown)
