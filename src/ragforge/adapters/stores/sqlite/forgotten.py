"""Forgotten: ids of imported sessions that somebody deleted, so that they do not come back."""

from __future__ import annotations

from collections.abc import Collection

import apsw

from ragforge.adapters.stores.sqlite.sql import as_json, select_column


def forget(connection: apsw.Connection, conversation_id: str, viewer: str | None) -> None:
    """Note the ids of a conversation and its messages."""
    connection.execute(
        """INSERT OR IGNORE INTO forgotten
           SELECT :id, :owner UNION
           SELECT uuid, :owner FROM message WHERE conversation_id = :id""",
        {"id": conversation_id, "owner": viewer or ""},
    )


def find_forgotten(
    connection: apsw.Connection, ids: Collection[str], viewer: str | None
) -> list[str]:
    """Return which of the ids the viewer, or an administrator, has deleted."""
    statement = f"""SELECT DISTINCT f.uuid FROM json_each(?) w
                    CROSS JOIN forgotten f ON f.uuid = w.value WHERE {is_own_note(viewer)}"""
    return select_column(connection, statement, (as_json(ids),))


def is_own_note(viewer: str | None) -> str:
    """Return the condition that the viewer, or an administrator, has deleted something."""
    return "1" if viewer is None else f"owner IN ('', {apsw.format_sql_value(viewer)})"
