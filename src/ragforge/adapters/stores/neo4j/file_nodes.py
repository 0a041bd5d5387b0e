"""File nodes: projects' files with their scopes, stored, replaced and removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple
from typing import Any

from ragforge.adapters.stores.neo4j.cypher import FILE_LABELS, LOCK, SCOPE_LABELS, assign, index_key
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.adapters.stores.neo4j.words import make_scope_words
from ragforge.domain.code import (
    RELATION_KINDS,
    SECTION,
    WHOLE_FILES,
    FileKind,
    Relation,
    RelationFilter,
    RelationKind,
    list_directories,
)
from ragforge.domain.kinds import Row, Stored
from ragforge.domain.schema import FILE
from ragforge.errors import DuplicateId, FileNotKnown, NotFound, ProjectNotFound, ScopeNotFound
from ragforge.ports.search_index import Tokeniser
from ragforge.records import dataclass

_FILE_LABELS: dict[FileKind, tuple[str, ...]] = {
    "code": ("File",),
    "document": ("File", "DocumentFile"),
    "web_page": ("WebPage",),
}
_RELATIONS = "|".join(RELATION_KINDS)
FORGOTTEN_FILES = 500
FORGOTTEN_SCOPES = 2_000
LOCK_PROJECT = f"MATCH (n:Project {{uuid: $project}}) {LOCK} WITH n"
_IN_PATHS = f"MATCH (f:{FILE_LABELS}) WHERE f.project_id = $project AND f.path IN $paths"
_SCOPES = f"MATCH (f)<-[:DEFINED_IN]-(s:{SCOPE_LABELS})"
FORGET_RELATIONS = f"""{_IN_PATHS}
    CALL (f) {{ MATCH (f)-[e:{_RELATIONS}]->() DELETE e }}
    CALL (f) {{ {_SCOPES}-[e:{_RELATIONS}]->() DELETE e }}"""
"""Delete the outgoing relations of the files `f` with these paths, and of their scopes."""


@dataclass(frozen=True, slots=True)
class KnownIds:
    """What is there already of files and scopes that are about to be stored."""

    paths: frozenset[str]
    files: Mapping[str, FileKind]
    scopes: Mapping[str, bool]  # whether it is a section


async def lock_project(
    tx: Transaction, project_id: str, change: str = "", **parameters: Any
) -> None:
    """Take a project's lock: its files change in one process at a time.

    A change is made in the same query, where the project is `$project`. Raises ProjectNotFound.
    """
    then = f"CALL () {{ {change} }}" if change else ""
    query = f"{LOCK_PROJECT} {then} RETURN n.uuid"
    if await tx.value(query, project=project_id, **parameters) is None:
        raise ProjectNotFound(project_id)


async def begin_forgetting(tx: Transaction, project_id: str) -> None:
    """Mark every file of a project to be read again: if forgetting it is interrupted, the next
    ingestion recreates all of it. Raises ProjectNotFound.
    """
    await lock_project(tx, project_id)
    await tx.rows(
        f"""MATCH (f:{FILE_LABELS}) WHERE f.project_id = $project
            SET f.mtime = null, f.hash = 'to be read again'""",
        project=project_id,
    )


async def forget_some(tx: Transaction, project_id: str) -> bool:
    """Delete some files of a project with their scopes; return whether there were any.

    Their number is limited, because a server has to hold a transaction in memory.
    """
    found = await tx.rows(
        f"""MATCH (f:{FILE_LABELS}) WHERE f.project_id = $project WITH f LIMIT $limit
            RETURN f.path AS path, COUNT {{ (f)<-[:DEFINED_IN]-() }} AS scopes""",
        project=project_id,
        limit=FORGOTTEN_FILES,
    )
    paths: list[str] = []
    scopes = 0
    for row in found:
        if paths and scopes + row["scopes"] > FORGOTTEN_SCOPES:
            break
        paths.append(row["path"])
        scopes += row["scopes"]
    if paths:
        await clear(tx, project_id, paths)
    return bool(paths)


async def forget_project(tx: Transaction, project_id: str) -> None:
    """Delete a project whose files are gone, with what is left of it."""
    for labels in (SCOPE_LABELS, FILE_LABELS, "Directory"):
        query = f"MATCH (n:{labels}) WHERE n.project_id = $id DETACH DELETE n"
        await tx.rows(query, id=project_id)
    await tx.rows("MATCH (n:Project {uuid: $id}) DETACH DELETE n", id=project_id)


async def lock_for(
    tx: Transaction, project_id: str, files: Sequence[Row], scopes: Sequence[Row]
) -> KnownIds:
    """Take a project's lock and return which files and scopes it knows.

    Raises ProjectNotFound, DuplicateId if an id is taken by what is not being replaced.
    """
    for kind, key, rows in (
        ("file", "uuid", files),
        ("file", "path", files),
        ("scope", "uuid", scopes),
    ):
        for taken, count in Counter(row[key] for row in rows).items():
            if count > 1:
                raise DuplicateId(kind, taken)
    paths = {row["path"]: row["uuid"] for row in files}
    found = await tx.row(
        f"""{LOCK_PROJECT}
            RETURN COLLECT {{ {_IN_PATHS} RETURN f.path }} AS paths,
              COLLECT {{ MATCH (f:{FILE_LABELS}) WHERE f.uuid IN $files
                         RETURN [f.uuid, f.kind, f.path, f.project_id] }} AS files,
              COLLECT {{ MATCH (s:{SCOPE_LABELS}) WHERE s.uuid IN $scopes
                         RETURN [s.uuid, s:MarkdownSection, s.file_path, s.project_id] }} AS scopes
        """,
        project=project_id,
        paths=list(paths),
        files=list(paths.values()),
        scopes=[row["uuid"] for row in scopes],
    )
    if found is None:
        raise ProjectNotFound(project_id)
    for uuid, _, path, project in found["files"]:
        if project != project_id or paths.get(path) != uuid:
            raise DuplicateId("file", uuid)
    for uuid, _, path, project in found["scopes"]:
        if project != project_id or path not in paths:
            raise DuplicateId("scope", uuid)
    known = ({uuid: what for uuid, what, *_ in found[kind]} for kind in ("files", "scopes"))
    return KnownIds(frozenset(found["paths"]), *known)


async def clear(
    tx: Transaction, project_id: str, paths: Sequence[str], kept: Sequence[str] = ()
) -> None:
    """Remove files and their scopes, except those whose ids are kept.

    Relations that go out of the kept ones go too.
    """
    await tx.rows(
        f"""{FORGET_RELATIONS}
            CALL (f) {{ {_SCOPES} WHERE NOT s.uuid IN $kept DETACH DELETE s }}
            WITH f WHERE NOT f.uuid IN $kept DETACH DELETE f""",
        project=project_id,
        paths=list(paths),
        kept=list(kept),
    )


async def put_files(
    tx: Transaction, rows: Iterable[Row], known: Mapping[str, FileKind] | None = None
) -> None:
    """Store files of known projects, or change those that are there.

    Where it is known which are there, with their kinds, the others are not looked for.
    """
    by_kind: dict[FileKind, list[Row]] = {kind: [] for kind in _FILE_LABELS}
    for row in rows:
        by_kind[row["kind"]].append(row)
    for kind, group in by_kind.items():
        if not group:
            continue
        main, labels = _FILE_LABELS[kind][0], ":".join(_FILE_LABELS[kind])
        ids = [row["uuid"] for row in group]
        if known is None or any(known.get(uuid, kind) != kind for uuid in ids):
            await tx.rows(
                f"""MATCH (f:{FILE_LABELS}) WHERE f.uuid IN $ids AND f.kind <> $kind
                    REMOVE f:File:DocumentFile:WebPage SET f:{labels}""",
                ids=ids,
                kind=kind,
            )
        await tx.each(
            f"""MATCH (p:Project {{uuid: row.project_id}})
                MERGE (f:{main} {{uuid: row.uuid}}) SET f:{labels}, {assign("f", FILE)}
                MERGE (f)-[:BELONGS_TO]->(p)""",
            group,
        )


async def put_scopes(
    tx: Transaction,
    rows: Iterable[Row],
    tokeniser: Tokeniser,
    known: Mapping[str, bool] | None = None,
) -> None:
    """Store scopes of known files, or change those that are there; vectors stay.

    Where it is known which are there, and whether as sections, the others are not looked for.
    """
    new: dict[str, dict[str, list[Row]]] = {}
    groups: dict[str, list[Row]] = {"Scope": [], "MarkdownSection": []}
    every = list(rows)
    # Few new ones come with the others, in one query.
    few = known is None or len(every) <= 2 * len(known)
    for row in every:
        label = "MarkdownSection" if row["type"] == SECTION else "Scope"
        stored = row | _make_words(row, tokeniser)
        if few or known is None or row["uuid"] in known:
            groups[label].append(stored)
            continue
        labels = f"{label}:WholeFile" if row["type"] in WHOLE_FILES else label
        new.setdefault(labels, {}).setdefault(row["file_id"], []).append(stored)
    for labels, by_file in new.items():
        await _create_scopes(tx, labels, by_file)
    for label, other in (("Scope", "MarkdownSection"), ("MarkdownSection", "Scope")):
        ids = [row["uuid"] for row in groups[label]]
        is_section = label == "MarkdownSection"
        if known is None or any(known.get(uuid, is_section) != is_section for uuid in ids):
            await tx.rows(
                f"MATCH (s:{other}) WHERE s.uuid IN $ids REMOVE s:{other}:WholeFile SET s:{label}",
                ids=ids,
            )
        await tx.each(
            f"""MATCH (f:{FILE_LABELS} {{uuid: row.file_id}})
                MERGE (s:{label} {{uuid: row.uuid}})
                SET s += row, s.project_id = f.project_id, s.file_path = f.path
                MERGE (s)-[:DEFINED_IN]->(f)
                FOREACH (_ IN CASE WHEN s.type IN $whole THEN [1] ELSE [] END | SET s:WholeFile)
                FOREACH (_ IN CASE WHEN s.type IN $whole THEN [] ELSE [1] END | REMOVE s:WholeFile)
                WITH s, f MATCH (s)-[stale:DEFINED_IN]->(old) WHERE old <> f DELETE stale""",
            groups[label],
            whole=WHOLE_FILES,
        )


async def _create_scopes(
    tx: Transaction, labels: str, by_file: Mapping[str, Sequence[Row]]
) -> None:
    """Create scopes that are not there, by the ids of their files.

    They travel as lists of values: their names take the driver as long as what they name.
    """
    names = list(next(iter(by_file.values()))[0])
    values = ", ".join(f"{name}: scope[{place}]" for place, name in enumerate(names))
    await tx.each(
        f"""MATCH (f:{FILE_LABELS} {{uuid: row[0]}})
            UNWIND row[1] AS scope
            CREATE (:{labels} {{{values}, project_id: f.project_id, file_path: f.path}})
                   -[:DEFINED_IN]->(f)""",
        [
            [file_id, [[scope[name] for name in names] for scope in scopes]]
            for file_id, scopes in by_file.items()
        ],
    )


def _make_words(row: Stored, tokeniser: Tokeniser) -> Row:
    return make_scope_words(row, tokeniser) | {
        "name_key": index_key(row["name"]),
        "qualified_name_key": index_key(row["qualified_name"]),
    }


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
        query, nodes=list(where.nodes or ()), project=where.project_id, paths=list(where.files)
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
