"""Relations: the edges between scopes, files and libraries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict

import apsw

from ragforge.adapters.stores.sqlite.sql import Connection, SqlFilter, add_under, as_json
from ragforge.domain.code import Relation, RelationFilter, RelationKind, list_directories
from ragforge.domain.kinds import CleanRow
from ragforge.domain.text import check_id, check_text
from ragforge.errors import DuplicateId, FileNotKnown, ScopeNotFound

_NUMBERS: dict[RelationKind, int] = {
    "HAS_PARENT": 1,
    "CONSUMES": 2,
    "INHERITS_FROM": 3,
    "IMPORTS": 4,
    "USES_LIBRARY": 5,
}
"""How kinds are stored. Up to 3 they are between scopes; the others go out of files."""
IMPORTS, _USES_LIBRARY = _NUMBERS["IMPORTS"], _NUMBERS["USES_LIBRARY"]
_NAMES = " ".join(f"WHEN {number} THEN '{name}'" for name, number in _NUMBERS.items())
_KIND = f"CASE r.kind {_NAMES} END"

TABLES = f"""relation r
    LEFT JOIN scope s ON r.kind < {IMPORTS} AND s.id = r.source
    LEFT JOIN file f ON r.kind >= {IMPORTS} AND f.id = r.source
    LEFT JOIN scope t ON r.kind < {IMPORTS} AND t.id = r.target
    LEFT JOIN file g ON r.kind = {IMPORTS} AND g.id = r.target
    LEFT JOIN library l ON r.kind = {_USES_LIBRARY} AND l.id = r.target"""
COLUMNS = f"""{_KIND} AS kind,
    coalesce(s.uuid, f.uuid) AS source, coalesce(t.uuid, g.uuid, l.name) AS target,
    coalesce(s.project_id, f.project_id) AS project_id"""
"""Reads relations of all kinds by their columns, with the ids of their ends, from `TABLES`."""
LIBRARIES = f"""SELECT l.name AS name FROM main.library l WHERE EXISTS (
    SELECT 1 FROM main.relation r WHERE r.target = l.id AND r.kind = {_USES_LIBRARY})"""

_ENDS: dict[RelationKind, tuple[str, str]] = {
    **dict.fromkeys(("HAS_PARENT", "CONSUMES", "INHERITS_FROM"), ("scope", "scope")),
    "IMPORTS": ("file", "file"),
    "USES_LIBRARY": ("file", "library"),
}


def format_edges(kind: RelationKind) -> str:
    """Return the query for the relations of a kind, with the ids of their ends."""
    source, target = _ENDS[kind]
    return f"""SELECT s.uuid AS source, t.{_name_key(target)} AS target, s.project_id AS project_id
        FROM main.relation r JOIN main.{source} s ON s.id = r.source
        JOIN main.{target} t ON t.id = r.target WHERE r.kind = {_NUMBERS[kind]}"""


def _name_key(table: str) -> str:
    return "name" if table == "library" else "uuid"


def add(db: Connection, relations: Sequence[Relation]) -> None:
    """Add relations. Raises ScopeNotFound or FileNotKnown if an end is unknown."""
    ends: dict[str, dict[str, None]] = {"scope": {}, "file": {}, "library": {}}
    for relation in relations:
        check_id("relation.target", relation.target)
        check_text("relation.source", relation.source)
        source, target = _ENDS[relation.kind]
        ends[source][relation.source] = None
        ends[target][relation.target] = None
    db.executemany(
        "INSERT INTO library (name) VALUES (?) ON CONFLICT (name) DO NOTHING",
        [(name,) for name in ends["library"]],
    )
    numbers = {table: _find_numbers(db, table, ids) for table, ids in ends.items()}
    rows = []
    for relation in relations:
        source, target = _ENDS[relation.kind]
        number = _NUMBERS[relation.kind]
        rows.append((numbers[source][relation.source], number, numbers[target][relation.target]))
    db.executemany(
        "INSERT INTO relation (source, kind, target) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        sorted(rows),
    )


def _find_numbers(db: Connection, table: str, ids: Collection[str]) -> dict[str, int]:
    """Return the row of each id. Raises ScopeNotFound or FileNotKnown for an unknown one."""
    key = _name_key(table)
    statement = f"SELECT {key}, id FROM {table} WHERE {key} IN (SELECT value FROM json_each(?))"
    found: dict[str, int] = dict(db.execute(statement, (as_json(ids),)))
    for end in ids:
        if end not in found:
            raise ScopeNotFound(end) if table == "scope" else FileNotKnown(end)
    return found


def read(connection: apsw.Connection, where: RelationFilter) -> list[Relation]:
    """Return the relations that pass a filter, by kind, source and target."""
    for node in where.nodes or ():
        check_text("nodes", node)
    parts = []
    for source, target in dict.fromkeys(_ENDS.values()):
        kinds = [kind for kind, ends in _ENDS.items() if ends == (source, target)]
        if where.kinds is not None:
            kinds = [kind for kind in kinds if kind in where.kinds]
        numbers = ", ".join(str(_NUMBERS[kind]) for kind in kinds)
        parts += [
            f"""SELECT {_KIND}, s.uuid, t.{_name_key(target)} FROM relation r
                CROSS JOIN {source} s ON s.id = r.source
                CROSS JOIN {target} t ON t.id = r.target
                WHERE r.kind IN ({numbers}) AND {condition}"""
            for condition in _format_conditions(source, target, where.nodes is None)
        ]
    given = {
        "nodes": as_json(where.nodes or ()),
        "project": where.project_id,
        "files": as_json(where.files),
    }
    rows = connection.execute(f"{' UNION '.join(parts)} ORDER BY 1, 2, 3", given)
    return [Relation(*row) for row in rows]


_FILES = """project_id = :project
            AND {path} IN (SELECT value FROM json_each(:files))"""


def _format_conditions(source: str, target: str, of_files: bool) -> list[str]:
    """Return the conditions for relations between these tables, any of which must hold."""
    if of_files:
        path = "file" if source == "scope" else "path"
        return [f"r.source IN (SELECT id FROM {source} WHERE {_FILES.format(path=path)})"]
    given = "(SELECT value FROM json_each(:nodes))"
    return [
        f"r.{end} IN (SELECT id FROM {table} WHERE {_name_key(table)} IN {given})"
        for end, table in (("source", source), ("target", target))
    ]


def remove(db: Connection, project_id: str, paths: Sequence[str]) -> None:
    """Remove all relations that go out of files and their scopes."""
    given = {"project": project_id, "files": as_json(paths)}
    for table, path, kinds in (("scope", "file", "<"), ("file", "path", ">=")):
        db.execute(
            f"""DELETE FROM relation WHERE kind {kinds} {IMPORTS}
                AND source IN (SELECT id FROM {table} WHERE {_FILES.format(path=path)})""",
            given,
        )


def rename_file(db: Connection, old: str, new: str) -> None:
    """Give a file another id; its scopes follow. Raises DuplicateId if the id is taken."""
    if db.value("SELECT 1 FROM file WHERE uuid = ?", (new,)):
        raise DuplicateId("file", new)
    db.execute("UPDATE file SET uuid = ? WHERE uuid = ?", (new, old))


def add_directories(db: Connection, project_id: str, paths: Iterable[str]) -> None:
    """Store every directory above one of the files."""
    for directory in list_directories(project_id, paths):
        row = CleanRow({**asdict(directory), "project_id": project_id})
        db.upsert("directory", row, ["project_id", "path"])


def prune_directories(db: Connection, project_id: str, paths: Iterable[str]) -> None:
    """Remove directories that led to the files and hold none any more."""
    for directory in list_directories(project_id, paths):
        where = add_under(SqlFilter().add("project_id = ?", project_id), "path", directory.path)
        statement = f"SELECT 1 FROM file WHERE {where} LIMIT 1"
        if not db.value(statement, where.bindings):
            db.execute("DELETE FROM directory WHERE uuid = ?", (directory.uuid,))
