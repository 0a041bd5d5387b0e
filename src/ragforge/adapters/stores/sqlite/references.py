"""References in SQLite: what code a message touched."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from ragforge.adapters.stores.rows import (
    conversation_of,
    reference_of,
    reference_row,
    stronger,
)
from ragforge.adapters.stores.sqlite import messages as message_rows
from ragforge.adapters.stores.sqlite.database import Database
from ragforge.adapters.stores.sqlite.sql import as_json, column, select, upsert
from ragforge.domain.code import CodeReference
from ragforge.domain.conversations import Conversation

_NAMED = """EXISTS (SELECT 1 FROM json_each(:names) WHERE qualified_name = value
    OR substr(qualified_name, -length(value) - 1) = '.' || value)"""


class References:
    """The part of `ConversationStore` that remembers code."""

    _database: Database

    async def refer(self, message_id: str, references: Sequence[CodeReference]) -> None:
        rows = [reference_row(message_id, reference) for reference in references]

        def work(connection: apsw.Connection) -> None:
            message_rows.existing(connection, message_id)
            statement = "SELECT scope_id, how FROM reference WHERE owner_id = ?"
            known = dict(connection.execute(statement, (message_id,)))
            for row in rows:
                upsert(connection, "reference", stronger(row, known), ["owner_id", "scope_id"])

        await self._database.write(work)

    async def references(self, message_id: str) -> list[CodeReference]:
        def work(connection: apsw.Connection) -> list[CodeReference]:
            message_rows.existing(connection, message_id)
            rows = select(
                connection,
                """SELECT * FROM reference WHERE owner_id = ?
                   ORDER BY file, qualified_name, scope_id""",
                (message_id,),
            )
            return [reference_of(row) for row in rows]

        return await self._database.read(work)

    async def references_of(self, message_ids: Sequence[str]) -> dict[str, list[CodeReference]]:
        statement = """SELECT * FROM reference WHERE owner_id IN (SELECT value FROM json_each(?))
                       ORDER BY file, qualified_name, scope_id"""

        def work(connection: apsw.Connection) -> dict[str, list[CodeReference]]:
            found: dict[str, list[CodeReference]] = {}
            for row in select(connection, statement, (as_json(list(message_ids)),)):
                found.setdefault(row["owner_id"], []).append(reference_of(row))
            return found

        return await self._database.read(work)

    async def set_link_pending(self, turn_ids: Sequence[str], pending: bool) -> None:
        statement = """UPDATE message SET link_pending = ?
                       WHERE role = 'user' AND uuid IN (SELECT value FROM json_each(?))"""
        given = (pending, as_json(turn_ids))
        await self._database.write(lambda c: c.execute(statement, given))

    async def turns_to_link(self, project_path: str, limit: int) -> list[str]:
        statement = """
            SELECT t.message_id FROM message m JOIN turn t ON t.message_id = m.uuid
            WHERE m.link_pending AND t.project_path = ? ORDER BY t.started_ms, t.id LIMIT ?"""
        return await self._database.read(lambda c: column(c, statement, (project_path, limit)))

    async def conversations_touching(
        self,
        *,
        files: Sequence[str] = (),
        scope_ids: Sequence[str] = (),
        names: Sequence[str] = (),
        project_path: str | None = None,
    ) -> list[Conversation]:
        statement = f"""
            WITH owners (id) AS (
              SELECT owner_id FROM reference
              WHERE how <> 'found' AND (file IN (SELECT value FROM json_each(:files))
                OR scope_id IN (SELECT value FROM json_each(:scopes)) OR {_NAMED})
              UNION ALL
              SELECT owner_id FROM mention
              WHERE how <> 'found' AND (path IN (SELECT value FROM json_each(:files))
                OR (kind = 'scope' AND target_id IN (SELECT value FROM json_each(:scopes)))
                OR {_NAMED}))
            SELECT * FROM conversation WHERE uuid IN (
              SELECT conversation_id FROM message WHERE uuid IN (SELECT id FROM owners)
              UNION ALL
              SELECT conversation_id FROM summary WHERE uuid IN (SELECT id FROM owners))
            AND (:project IS NULL OR project_path = :project)
            ORDER BY updated_ms DESC, uuid"""
        bindings = {
            "files": as_json(files),
            "scopes": as_json(scope_ids),
            "names": as_json(names),
            "project": project_path,
        }
        return await self._database.read(
            lambda c: [conversation_of(row) for row in select(c, statement, bindings)]
        )
