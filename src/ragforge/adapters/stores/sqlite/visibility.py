"""Viewers: what is private to another user does not exist for the one who opened the store.

Readers see the tables through views of the same names, so that no statement can forget the filter.
Writers see all tables, and check first whether they may change something.
"""

from __future__ import annotations

from typing import Any

import apsw

from ragforge.adapters.stores.sqlite.sql import Connection
from ragforge.domain.kinds import Kind, Row
from ragforge.domain.schema import CONVERSATION, KINDS, PASSAGE, TURN
from ragforge.errors import NotAuthor


def hide_others(db: Connection, viewer: str | None) -> None:
    """Let a reading connection see only what the viewer may see; without a viewer, everything."""
    if viewer is None:
        return
    kinds: list[Kind[Any, Any]] = [TURN, PASSAGE, *KINDS.values()]
    for kind in kinds:
        if kind.seen_by is not None:
            db.execute(
                f"""CREATE TEMP VIEW {kind.name} AS SELECT * FROM main.{kind.name}
                    WHERE {kind.seen_by} IS NULL OR {kind.seen_by} = {_quote(viewer)}"""
            )


def hides_any(db: Connection, viewer: str | None) -> bool:
    """Tell whether anything in the store is private to another user: two lookups in an index."""
    return viewer is not None and any(
        db.value(f"SELECT 1 FROM main.{table} WHERE private_to {side} ?", (viewer,))
        for table in ("conversation", "note")
        for side in "<>"
    )


def has_others(db: Connection, viewer: str | None) -> bool:
    """Tell whether any conversation belongs to another author."""
    return viewer is not None and any(
        db.value(f"SELECT 1 FROM main.conversation WHERE author_key {side} ?", (viewer,))
        for side in "<>"
    )


def is_own(viewer: str | None, column: str = "conversation_id") -> str:
    """Return the condition that the conversation in a column does not belong to another author."""
    if viewer is None:
        return "1"
    return f"""{column} NOT IN (
        SELECT uuid FROM main.conversation
        WHERE author_key < {_quote(viewer)} OR author_key > {_quote(viewer)})"""


def is_own_row(viewer: str | None, alias: str) -> str:
    """Return the condition that a conversation or note does not belong to another author."""
    if viewer is None:
        return "1"
    return f"({alias}.author_key IS NULL OR {alias}.author_key = {_quote(viewer)})"


def is_own_job(viewer: str | None) -> str:
    """Return the condition that a job is the viewer's or has no owner."""
    return "1" if viewer is None else f"(owner IS NULL OR owner = {_quote(viewer)})"


def check_own(
    db: Connection, viewer: str | None, kind: Kind[Any, Any], item_id: str, force: bool = False
) -> Row:
    """Return the row of an item that is to be changed.

    Raises a NotFound if the viewer may not see it, NotAuthor if they may not change it. With
    `force`, what may be seen may be changed.
    """
    row = db.read_item(kind, item_id)
    if kind.seen_by is not None and is_hidden(row, viewer, kind.seen_by):
        raise kind.missing(item_id)
    if viewer is None or force:
        return row
    if "author_key" in kind:
        if row["author_key"] not in (None, viewer):
            word = "session" if kind is CONVERSATION else kind.name
            raise NotAuthor(word, item_id, row["author"])
    elif "conversation_id" in kind:
        check_own(db, viewer, CONVERSATION, row["conversation_id"])
    return row


def is_hidden(row: Row, viewer: str | None, column: str = "private_to") -> bool:
    """Tell whether a row is private to another author, whom a column names."""
    return viewer is not None and row[column] not in (None, viewer)


def _quote(viewer: str) -> str:
    return apsw.format_sql_value(viewer)
