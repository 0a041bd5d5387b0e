"""File nodes: projects' files with their scopes, stored, replaced and removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ragforge.adapters.stores.neo4j.cypher import FILE_LABELS, LOCK, SCOPE_LABELS, assign, index_key
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.adapters.stores.neo4j.words import make_scope_words
from ragforge.adapters.stores.rows import FILE
from ragforge.adapters.stores.table import Row, Stored
from ragforge.domain.code import RELATION_KINDS, SECTION, WHOLE_FILES, FileKind
from ragforge.errors import DuplicateId, ProjectNotFound
from ragforge.ports.words import Tokeniser

_FILE_LABELS: dict[FileKind, tuple[str, ...]] = {
    "code": ("File",),
    "document": ("File", "DocumentFile"),
    "web_page": ("WebPage",),
}
_RELATIONS = "|".join(RELATION_KINDS)
FORGOTTEN_FILES = 500
FORGOTTEN_SCOPES = 2_000
_IN_PATHS = f"MATCH (f:{FILE_LABELS}) WHERE f.project_id = $project AND f.path IN $paths"


async def lock_project(tx: Transaction, project_id: str) -> None:
    """Take a project's lock: its files change in one process at a time.

    Raises ProjectNotFound.
    """
    query = f"MATCH (n:Project {{uuid: $id}}) {LOCK} RETURN n.uuid"
    if await tx.value(query, id=project_id) is None:
        raise ProjectNotFound(project_id)


async def begin_forgetting(tx: Transaction, project_id: str) -> None:
    """Make every file of a project one to be read again: if forgetting it breaks off, the next
    ingestion makes all of it anew. Raises ProjectNotFound.
    """
    await lock_project(tx, project_id)
    await tx.rows(
        f"""MATCH (f:{FILE_LABELS}) WHERE f.project_id = $project
            SET f.mtime = null, f.hash = 'to be read again'""",
        project=project_id,
    )


async def forget_some(tx: Transaction, project_id: str) -> bool:
    """Delete some files of a project with their scopes; tell whether there were any.

    So many that no transaction grows with the project: a server has to hold it in memory.
    """
    found = await tx.rows(
        f"""MATCH (f:{FILE_LABELS}) WHERE f.project_id = $project WITH f LIMIT $most
            RETURN f.path AS path, COUNT {{ (f)<-[:DEFINED_IN]-() }} AS scopes""",
        project=project_id,
        most=FORGOTTEN_FILES,
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


async def check_free(
    tx: Transaction, project_id: str, files: Sequence[Row], scopes: Sequence[Row]
) -> None:
    """Raise DuplicateId if an id is taken by what is not being replaced."""
    for kind, key, rows in (
        ("file", "uuid", files),
        ("file", "path", files),
        ("scope", "uuid", scopes),
    ):
        for taken, count in Counter(row[key] for row in rows).items():
            if count > 1:
                raise DuplicateId(kind, taken)
    taken_ids = await tx.each(
        f"""MATCH (f:{FILE_LABELS} {{uuid: row[0]}})
            WHERE f.project_id <> $project OR f.path <> row[1] RETURN f.uuid AS uuid LIMIT 1""",
        [[row["uuid"], row["path"]] for row in files],
        project=project_id,
    )
    for file in taken_ids:
        raise DuplicateId("file", file["uuid"])
    scope = await tx.value(
        f"""MATCH (s:{SCOPE_LABELS}) WHERE s.uuid IN $ids
              AND NOT (s.project_id = $project AND s.file_path IN $paths)
            RETURN s.uuid LIMIT 1""",
        ids=[row["uuid"] for row in scopes],
        project=project_id,
        paths=[row["path"] for row in files],
    )
    if scope is not None:
        raise DuplicateId("scope", scope)


async def clear(
    tx: Transaction, project_id: str, paths: Sequence[str], kept: Sequence[str] = ()
) -> None:
    """Remove files and their scopes, except those whose ids are kept.

    Relations that go out of the kept ones go too.
    """
    parameters = {"project": project_id, "paths": list(paths), "kept": list(kept)}
    scopes = f"{_IN_PATHS} MATCH (f)<-[:DEFINED_IN]-(s:{SCOPE_LABELS})"
    await forget_relations(tx, project_id, paths)
    for query in (
        f"{scopes} WHERE NOT s.uuid IN $kept DETACH DELETE s",
        f"{_IN_PATHS} AND NOT f.uuid IN $kept DETACH DELETE f",
    ):
        await tx.rows(query, **parameters)


async def forget_relations(tx: Transaction, project_id: str, paths: Sequence[str]) -> None:
    """Remove all that goes out of files and their scopes."""
    parameters = {"project": project_id, "paths": list(paths)}
    scopes = f"{_IN_PATHS} MATCH (f)<-[:DEFINED_IN]-(s:{SCOPE_LABELS})"
    for query in (
        f"{_IN_PATHS} MATCH (f)-[e:{_RELATIONS}]->() DELETE e",
        f"{scopes}-[e:{_RELATIONS}]->() DELETE e",
    ):
        await tx.rows(query, **parameters)


async def mark(tx: Transaction, project_id: str, paths: Sequence[str], state: str) -> None:
    """Set the state of files."""
    query = f"{_IN_PATHS} SET f.state = $state"
    await tx.rows(query, project=project_id, paths=list(paths), state=state)


async def put_files(tx: Transaction, rows: Iterable[Row]) -> None:
    """Store files of known projects, or change those that are there."""
    by_kind: dict[FileKind, list[Row]] = {kind: [] for kind in _FILE_LABELS}
    for row in rows:
        by_kind[row["kind"]].append(row)
    for kind, group in by_kind.items():
        if not group:
            continue
        main, labels = _FILE_LABELS[kind][0], ":".join(_FILE_LABELS[kind])
        await tx.rows(
            f"""MATCH (f:{FILE_LABELS}) WHERE f.uuid IN $ids AND f.kind <> $kind
                REMOVE f:File:DocumentFile:WebPage SET f:{labels}""",
            ids=[row["uuid"] for row in group],
            kind=kind,
        )
        await tx.each(
            f"""MATCH (p:Project {{uuid: row.project_id}})
                MERGE (f:{main} {{uuid: row.uuid}}) SET f:{labels}, {assign("f", FILE)}
                MERGE (f)-[:BELONGS_TO]->(p)""",
            group,
        )


async def put_scopes(tx: Transaction, rows: Iterable[Row], tokeniser: Tokeniser) -> None:
    """Store scopes of known files, or change those that are there; vectors stay."""
    groups: dict[str, list[Row]] = {"Scope": [], "MarkdownSection": []}
    for row in rows:
        label = "MarkdownSection" if row["type"] == SECTION else "Scope"
        groups[label].append(row | _make_words(row, tokeniser))
    for label, other in (("Scope", "MarkdownSection"), ("MarkdownSection", "Scope")):
        if not groups[label]:
            continue
        await tx.rows(
            f"MATCH (s:{other}) WHERE s.uuid IN $ids REMOVE s:{other}:WholeFile SET s:{label}",
            ids=[row["uuid"] for row in groups[label]],
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


def _make_words(row: Stored, tokeniser: Tokeniser) -> Row:
    return make_scope_words(row, tokeniser) | {
        "name_key": index_key(row["name"]),
        "qualified_name_key": index_key(row["qualified_name"]),
    }
