"""Scope rows: scopes, with separate tables for their sources and their words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from ragforge.adapters.stores.sqlite import vectors, words
from ragforge.adapters.stores.sqlite.file_texts import PLACES, READ, place_texts, read_texts
from ragforge.adapters.stores.sqlite.sql import Connection, as_json
from ragforge.domain.code import SECTION, Scope
from ragforge.domain.kinds import CleanRow, Row
from ragforge.domain.rows import get_indexed_text
from ragforge.domain.schema import SCOPE
from ragforge.errors import DuplicateId
from ragforge.ports.search_index import Tokeniser

TABLES = "main.scope o CROSS JOIN main.file_text t ON t.file_id = o.file_id"
_ELSEWHERE = {
    "source": f"{READ}(t.data, o.source_from, o.source_to) AS source",
    "search_text": f"""iif(o.search_from IS NULL, NULL,
        {READ}(t.data, o.search_from, o.search_to)) AS search_text""",
    "embedding_hash": f"{vectors.MADE_OF} AS embedding_hash",
}


def pick_columns(names: Iterable[str]) -> str:
    """Return columns of scopes, as they are read from `TABLES`."""
    return ", ".join(_ELSEWHERE.get(name, f"o.{name}") for name in names)


_SOURCE, _SEARCH_TEXT = map(SCOPE.read.index, ("source", "search_text"))
_SCOPES = f"""SELECT {
    pick_columns(
        {"source": "source_from", "search_text": "search_from"}.get(name, name)
        for name in SCOPE.read
    )
}, o.file_id, o.source_to, o.search_to FROM scope o"""


def read_scopes(db: Connection, rest: str, bindings: Sequence[Any]) -> list[Scope]:
    """Return the scopes that a statement finds, of which this is the rest.

    The text of a file is read once, which is cheaper than a call in each row.
    """
    rows: list[Any] = db.execute(f"{_SCOPES} {rest}", bindings).fetchall()
    texts = read_texts(db, {row[-3] for row in rows})
    scopes = []
    for *values, file_id, source_to, search_to in rows:
        text = texts[file_id]
        values[_SOURCE] = text[values[_SOURCE] : source_to]
        if search_to is not None:
            values[_SEARCH_TEXT] = text[values[_SEARCH_TEXT] : search_to]
        scopes.append(SCOPE.decode_values(values))
    return scopes


STORED = f"o.*, {pick_columns(('source', 'search_text'))}"
"""All columns of scopes, with their texts, as they are read from `TABLES`."""
_STORED = f"SELECT {STORED} FROM {TABLES}"
_OWN = (
    *("uuid", "file_id", "project_id", "name", "qualified_name", "type", "file", "language"),
    *("startLine", "endLine", "signature", "docstring", "hash"),
    *PLACES,
)
_SET = ", ".join(f"{name} = ?" for name in _OWN)
_own = itemgetter(*_OWN)
_words = itemgetter("name", "qualified_name", "type", "file", "signature", "docstring")


def restore(
    db: Connection, project_id: str, rows: Sequence[CleanRow], tokeniser: Tokeniser
) -> None:
    """Store some scopes of files, whether they are known or not.

    Raises DuplicateId if one is known as another file's.
    """
    statement = """SELECT o.uuid FROM json_each(?) given CROSS JOIN scope o
                   ON o.uuid = given.value ->> 0 AND o.file_id <> given.value ->> 1"""
    elsewhere = db.value(statement, (as_json((row["uuid"], row["file_id"]) for row in rows),))
    if elsewhere is not None:
        raise DuplicateId("scope", elsewhere)
    known = read_of_files(db, {row["file_id"] for row in rows})
    all_of_files = known | {row["uuid"]: row for row in rows}
    put(db, project_id, [CleanRow(row) for row in all_of_files.values()], known, tokeniser)


def read_of_files(db: Connection, file_ids: Iterable[str]) -> dict[str, Row]:
    """Return what is stored of the scopes of files, by their ids."""
    statement = f"{_STORED} WHERE o.file_id IN (SELECT value FROM json_each(?))"
    return {row["uuid"]: row for row in db.rows(statement, (as_json(file_ids),))}


def put(
    db: Connection,
    project_id: str,
    rows: Sequence[CleanRow],
    known: Mapping[str, Row],
    tokeniser: Tokeniser,
) -> None:
    """Store all scopes of some files, of which some are known.

    What is the same already is left alone. What they were embedded from is the store's to know.
    Words come last: a statement on another table between two of theirs has all of the new words
    written to the file.
    """
    rows = [CleanRow({**row, "project_id": project_id}) for row in rows]
    texts = place_texts(rows)
    new = [row for row in rows if row["uuid"] not in known]
    free = 1 + (db.value("SELECT max(id) FROM scope") or 0)
    for rowid, row in enumerate(new, free):
        row["id"] = rowid
    moved, reworded = [], []
    for row in rows:
        if (old := known.get(row["uuid"])) is not None:
            row["id"] = old["id"]
            if _own(old) != _own(row):
                moved.append(row)
            if _words(old) != _words(row) or get_indexed_text(old) != get_indexed_text(row):
                reworded.append(row)
    db.insert_many("scope", ("id", *_OWN), new)
    update = f"UPDATE scope SET {_SET} WHERE id = ?"
    db.executemany(update, [(*_own(row), row["id"]) for row in moved])
    db.executemany("INSERT OR REPLACE INTO file_text VALUES (?, ?)", texts)
    _forget_words(db, [row["id"] for row in reworded])
    _index(db, [*new, *reworded], tokeniser)


def reindex_scopes(db: Connection, ids: Sequence[int], tokeniser: Tokeniser) -> None:
    """Set the words of scopes, whatever words they have."""
    statement = f"{_STORED} WHERE o.id IN (SELECT value FROM json_each(?))"
    _forget_words(db, ids)
    _index(db, list(db.rows(statement, (as_json(ids),))), tokeniser)


def pick_index(sections: bool) -> str:
    """Return the full-text index of documents or of code."""
    return "section_words" if sections else "scope_words"


def _forget_words(db: Connection, ids: Sequence[int]) -> None:
    for table in (pick_index(True), pick_index(False)):
        db.executemany(f"DELETE FROM {table} WHERE rowid = ?", [(one,) for one in ids])


def _index(db: Connection, rows: Sequence[Row], tokeniser: Tokeniser) -> None:
    """Set the words of scopes that have none."""
    document, prose = tokeniser.document, tokeniser.prose
    path, path_words = "", ""
    indexed: dict[str, list[tuple[int | str, ...]]] = {}
    for row in rows:
        if row["file"] != path:
            path = row["file"]
            path_words = document(path)
        is_section = row["type"] == SECTION
        text = prose if is_section else document
        indexed.setdefault(pick_index(is_section), []).append(
            (
                row["id"],
                text(f"{row['name']} {row['qualified_name']}"),
                path_words,
                document(row["signature"]),
                prose(row["docstring"]),
                text(get_indexed_text(row)),
                words.make_key("p", row["project_id"]),
            )
        )
    for table, found in indexed.items():
        words.index_many(db, table, found)
