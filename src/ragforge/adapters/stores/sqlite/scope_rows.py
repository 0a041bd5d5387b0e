"""Scope rows: a scope in its tables, its source and its words each in their own."""

from __future__ import annotations

import apsw

from ragforge.adapters.stores.rows import Row
from ragforge.adapters.stores.sqlite import vectors, words
from ragforge.adapters.stores.sqlite.sql import insert, one, upsert
from ragforge.domain.code import SECTION
from ragforge.errors import DuplicateId
from ragforge.ports.words import Tokeniser

COLUMNS = f"s.*, t.source, {vectors.MADE_OF} AS embedding_hash"
TABLES = "scope s JOIN scope_text t ON t.id = s.id"
SCOPES = f"SELECT {COLUMNS} FROM {TABLES}"


def restore(connection: apsw.Connection, project_id: str, row: Row, tokeniser: Tokeniser) -> None:
    """Store a scope, whether it is known or not. Raises DuplicateId if it is another file's."""
    known = one(connection, "SELECT id, file_id FROM scope WHERE uuid = ?", (row["uuid"],))
    if known is not None and known["file_id"] != row["file_id"]:
        raise DuplicateId("scope", row["uuid"])
    put(connection, project_id, row, None if known is None else known["id"], tokeniser)


def put(
    connection: apsw.Connection,
    project_id: str,
    row: Row,
    rowid: int | None,
    tokeniser: Tokeniser,
) -> None:
    """Store a new scope, or change the one with this rowid.

    What it was embedded from is the store's to know.
    """
    row = {**row, "project_id": project_id}
    del row["embedding_hash"]
    source = row.pop("source")
    if rowid is None:
        rowid = insert(connection, "scope", row)
    else:
        connection.execute("DELETE FROM scope_words WHERE rowid = ?", (rowid,))
        connection.execute("DELETE FROM section_words WHERE rowid = ?", (rowid,))
        upsert(connection, "scope", row, ["uuid"])
    connection.execute("INSERT OR REPLACE INTO scope_text VALUES (?, ?)", (rowid, source))
    index(connection, rowid, row | {"source": source}, tokeniser, replace=False)


def index(
    connection: apsw.Connection, rowid: int, row: Row, tokeniser: Tokeniser, replace: bool = True
) -> None:
    """Set the words of a scope."""
    texts = (
        f"{row['name']} {row['qualified_name']}",
        row["file"],
        row["signature"],
        row["docstring"],
        row["source"],
    )
    keys = words.key("p", row["project_id"])
    found = map(tokeniser.document, texts)
    table = index_of(row["type"] == SECTION)
    words.index(connection, table, rowid, *found, keys, replace=replace)


def index_of(sections: bool) -> str:
    """Return the full-text index of documents or of code."""
    return "section_words" if sections else "scope_words"
