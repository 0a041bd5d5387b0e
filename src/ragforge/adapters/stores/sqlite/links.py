"""Links in SQLite: what code messages and summaries touched."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from ragforge.adapters.stores.sqlite.database import SqliteDatabase
from ragforge.adapters.stores.sqlite.sql import Connection, as_json
from ragforge.adapters.stores.sqlite.visibility import check_own, is_own
from ragforge.domain.code import CodeLinks, CodeReference, FileMention, Touch
from ragforge.domain.conversations import Message
from ragforge.domain.kinds import Kind
from ragforge.domain.rows import encode_mentions, group_links, strengthen
from ragforge.domain.schema import MESSAGE, REFERENCE, SUMMARY, TOUCH
from ragforge.domain.summaries import Summary

_REFERENCES = """SELECT * FROM reference WHERE owner_id IN (
    SELECT m.uuid FROM json_each(?) j JOIN message m ON m.uuid = j.value)
  ORDER BY file, qualified_name, scope_id"""
_MENTIONS = """SELECT * FROM mention WHERE owner_id IN (
    SELECT s.uuid FROM json_each(?) j JOIN summary s ON s.uuid = j.value)
  ORDER BY path, qualified_name, target_id"""
_UNLINKED = """NOT m.link_pending AND NOT EXISTS (
    SELECT 1 FROM message o JOIN reference r ON r.owner_id = o.uuid
    WHERE o.conversation_id = t.conversation_id AND o.turn_index = t.turn_index
      AND substr(r.scope_id, -length(r.file) - 1) <> ':' || r.file)"""
_NAMED = """EXISTS (SELECT 1 FROM json_each(:names)
    WHERE value <> '' AND instr('.' || r.qualified_name || '.', '.' || value || '.') > 0)"""


class SqliteLinks:
    """The part of `Timeline` that remembers code."""

    _database: SqliteDatabase

    async def link(
        self,
        kind: Kind[Message, Any] | Kind[Summary, Any],
        owner_id: str,
        references: Sequence[CodeReference],
        files: Sequence[FileMention] = (),
    ) -> None:
        redactor = self._database.redactor
        rows = (
            encode_mentions(owner_id, files, references, redactor)
            if kind is SUMMARY
            else REFERENCE.encode_all(references, redactor, owner_id=owner_id)
        )

        def work(db: Connection) -> None:
            check_own(db, self._database.viewer, kind, owner_id)
            if kind is MESSAGE:
                statement = "SELECT scope_id, how FROM reference WHERE owner_id = ?"
                known = dict(db.execute(statement, (owner_id,)))
                for row in rows:
                    new = strengthen(row, known)
                    db.upsert("reference", new, ["owner_id", "scope_id"])
            else:
                db.execute("DELETE FROM mention WHERE owner_id = ?", (owner_id,))
                for row in rows:
                    db.upsert("mention", row, ["owner_id", "kind", "target_id"])

        await self._database.write(work)

    async def links(self, owner_ids: Sequence[str]) -> dict[str, CodeLinks]:
        return await self._database.read(lambda c: read_links(c, owner_ids))

    async def turns_to_link(
        self, project_ids: Sequence[str], limit: int, waiting: bool = True
    ) -> dict[str, str]:
        # CROSS: the few that wait come first. SQLite would read all turns of the project.
        tables = "message m CROSS JOIN turn t" if waiting else "turn t JOIN message m"
        statement = f"""
            SELECT t.message_id, t.conversation_id FROM {tables} ON t.message_id = m.uuid
            WHERE t.project_id IN (SELECT value FROM json_each(?))
              AND {"m.link_pending" if waiting else _UNLINKED}
              AND {is_own(self._database.viewer, "t.conversation_id")}
            ORDER BY t.started_ms, t.id LIMIT ?"""
        given = (as_json(project_ids), limit)
        return await self._database.read(lambda c: dict(c.execute(statement, given)))

    async def set_link_pending(self, turn_ids: Sequence[str], pending: bool) -> None:
        own = is_own(self._database.viewer)
        statement = f"""UPDATE message SET link_pending = ? WHERE role = 'user'
                        AND uuid IN (SELECT value FROM json_each(?)) AND {own}"""
        given = (pending, as_json(turn_ids))
        await self._database.write(lambda c: c.execute(statement, given))

    async def touches(
        self,
        *,
        files: Sequence[str] = (),
        scope_ids: Sequence[str] = (),
        names: Sequence[str] = (),
        project_ids: Sequence[str] | None = None,
        conversation_id: str | None = None,
        limit: int = 1000,
    ) -> list[Touch]:
        statement = f"""
            SELECT m.conversation_id, m.turn_index AS first_turn, m.turn_index AS last_turn,
                   m.timestamp AS "when", r.how, r.file, r.qualified_name AS name, r.hash,
                   r.scope_id AS target_id, 0 AS by_summary, m.timestamp_ms AS moment
            FROM reference r JOIN message m ON m.uuid = r.owner_id
            JOIN conversation c ON c.uuid = m.conversation_id
            WHERE r.how <> 'found' AND (:all OR r.file IN (SELECT value FROM json_each(:files))
                OR r.scope_id IN (SELECT value FROM json_each(:scopes)) OR {_NAMED})
              AND (:projects IS NULL OR c.project_id IN (SELECT value FROM json_each(:projects)))
              AND (:conversation IS NULL OR c.uuid = :conversation)
            UNION ALL
            SELECT s.conversation_id, s.start_turn_index, s.end_turn_index, s.created_at, r.how,
                   r.path, r.qualified_name, r.hash, r.target_id, 1, s.created_ms
            FROM mention r JOIN summary s ON s.uuid = r.owner_id
            JOIN conversation c ON c.uuid = s.conversation_id
            WHERE r.how <> 'found' AND (:all OR r.path IN (SELECT value FROM json_each(:files))
                OR (r.kind = 'scope' AND r.target_id IN (SELECT value FROM json_each(:scopes)))
                OR {_NAMED})
              AND (:projects IS NULL OR c.project_id IN (SELECT value FROM json_each(:projects)))
              AND (:conversation IS NULL OR c.uuid = :conversation)
            ORDER BY moment DESC, 1, 2, 3, 6, 7, 9 LIMIT :limit"""
        bindings = {
            "files": as_json(files),
            "scopes": as_json(scope_ids),
            "names": as_json(names),
            "projects": None if project_ids is None else as_json(project_ids),
            "conversation": conversation_id,
            "all": conversation_id is not None and not (files or scope_ids or names),
            "limit": limit,
        }
        return await self._database.read(
            lambda c: [TOUCH.decode(row) for row in c.rows(statement, bindings)]
        )


def read_links(db: Connection, owner_ids: Sequence[str]) -> dict[str, CodeLinks]:
    """Return the code that messages and summaries are linked to."""
    ids = (as_json(owner_ids),)
    rows = chain(db.rows(_REFERENCES, ids), db.rows(_MENTIONS, ids))
    return group_links(rows)
