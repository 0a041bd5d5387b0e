"""References in SQLite: what code a message touched."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from ragforge.adapters.stores.sqlite import messages as message_rows
from ragforge.adapters.stores.sqlite.database import Database
from ragforge.adapters.stores.sqlite.sql import as_json, select, select_column, upsert
from ragforge.adapters.stores.sqlite.viewers import check_own, is_own
from ragforge.domain.code import CodeReference, Touch
from ragforge.domain.rows import strengthen
from ragforge.domain.schema import CONVERSATION, REFERENCE, TOUCH

_NAMED = """EXISTS (SELECT 1 FROM json_each(:names)
    WHERE value <> '' AND instr('.' || r.qualified_name || '.', '.' || value || '.') > 0)"""


class References:
    """The part of `ConversationStore` that remembers code."""

    _database: Database

    async def refer(self, message_id: str, references: Sequence[CodeReference]) -> None:
        redactor = self._database.redactor
        rows = REFERENCE.encode_all(references, redactor, owner_id=message_id)

        def work(connection: apsw.Connection) -> None:
            owner = message_rows.read_row(connection, message_id, self._database.viewer)
            check_own(connection, self._database.viewer, CONVERSATION, owner["conversation_id"])
            statement = "SELECT scope_id, how FROM reference WHERE owner_id = ?"
            known = dict(connection.execute(statement, (message_id,)))
            for row in rows:
                upsert(connection, "reference", strengthen(row, known), ["owner_id", "scope_id"])

        await self._database.write(work)

    async def references_of(self, message_ids: Sequence[str]) -> dict[str, list[CodeReference]]:
        statement = """SELECT * FROM reference WHERE owner_id IN (
                         SELECT m.uuid FROM json_each(?) j JOIN message m ON m.uuid = j.value)
                       ORDER BY file, qualified_name, scope_id"""

        def work(connection: apsw.Connection) -> dict[str, list[CodeReference]]:
            found: dict[str, list[CodeReference]] = {}
            for row in select(connection, statement, (as_json(list(message_ids)),)):
                found.setdefault(row["owner_id"], []).append(REFERENCE.decode(row))
            return found

        return await self._database.read(work)

    async def set_link_pending(self, turn_ids: Sequence[str], pending: bool) -> None:
        own = is_own(self._database.viewer)
        statement = f"""UPDATE message SET link_pending = ? WHERE role = 'user'
                        AND uuid IN (SELECT value FROM json_each(?)) AND {own}"""
        given = (pending, as_json(turn_ids))
        await self._database.write(lambda c: c.execute(statement, given))

    async def turns_to_link(self, project_ids: Sequence[str], limit: int) -> list[str]:
        own = is_own(self._database.viewer, "t.conversation_id")
        # CROSS: the few that wait come first. SQLite would read all turns of the project.
        statement = f"""
            SELECT t.message_id FROM message m CROSS JOIN turn t ON t.message_id = m.uuid
            WHERE m.link_pending AND t.project_id IN (SELECT value FROM json_each(?)) AND {own}
            ORDER BY t.started_ms, t.id LIMIT ?"""
        return await self._database.read(
            lambda c: select_column(c, statement, (as_json(project_ids), limit))
        )

    async def unlinked_turns(self, project_ids: Sequence[str], limit: int) -> list[str]:
        own = is_own(self._database.viewer, "t.conversation_id")
        statement = f"""
            SELECT t.message_id FROM turn t JOIN message m ON m.uuid = t.message_id
            WHERE t.project_id IN (SELECT value FROM json_each(?)) AND NOT m.link_pending AND {own}
              AND NOT EXISTS (
                SELECT 1 FROM message o JOIN reference r ON r.owner_id = o.uuid
                WHERE o.conversation_id = t.conversation_id AND o.turn_index = t.turn_index
                  AND substr(r.scope_id, -length(r.file) - 1) <> ':' || r.file)
            ORDER BY t.started_ms, t.id LIMIT ?"""
        return await self._database.read(
            lambda c: select_column(c, statement, (as_json(project_ids), limit))
        )

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
            lambda c: [TOUCH.decode(row) for row in select(c, statement, bindings)]
        )
