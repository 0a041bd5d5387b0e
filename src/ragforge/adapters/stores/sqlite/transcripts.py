"""Other agents' transcripts in SQLite: cursors, and which ids are known."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Sequence

import apsw

from ragforge.adapters.stores.sqlite.branching import find_copied, share_copies
from ragforge.adapters.stores.sqlite.database import Database
from ragforge.adapters.stores.sqlite.forgotten import find_forgotten
from ragforge.adapters.stores.sqlite.intake import Intake
from ragforge.adapters.stores.sqlite.sql import as_json, select_one
from ragforge.adapters.stores.sqlite.visibility import is_own_row
from ragforge.adapters.stores.stale_view import StaleView
from ragforge.domain.conversations import BEFORE_FIRST_TURN
from ragforge.domain.rows import redact_steps
from ragforge.domain.schema import CURSOR
from ragforge.domain.transcripts import FORGOTTEN, IntakeStep, StoredIds, TranscriptCursor
from ragforge.ports.words import Tokeniser

_NOWHERE = (FORGOTTEN, BEFORE_FIRST_TURN)
_OWN = "(? IS NULL OR c.author_key IS NULL OR c.author_key = ?)"
_PLACES = f"""
SELECT m.uuid, iif({_OWN}, m.conversation_id, NULL), m.turn_index
FROM json_each(?) w CROSS JOIN message m ON m.uuid = w.value
JOIN conversation c ON c.uuid = m.conversation_id"""
_TURNS = f"""
SELECT c.uuid, iif({_OWN}, coalesce((SELECT max(turn_index) FROM turn
  WHERE conversation_id = c.uuid), {BEFORE_FIRST_TURN}), {BEFORE_FIRST_TURN})
FROM json_each(?) w CROSS JOIN conversation c ON c.uuid = w.value"""


class SqliteTranscripts:
    """Keeps the promises of `TranscriptStore`."""

    def __init__(self, database: Database, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser
        self._owner = database.viewer or ""

    async def stamps(self, host: str) -> dict[str, dict[str, str]]:
        statement = """SELECT agent, json_group_object(path, stamp) FROM transcript
                       WHERE owner = ? AND host = ? GROUP BY agent"""
        bindings = (self._owner, host)
        found = await self._database.read(lambda c: dict(c.execute(statement, bindings)))
        return {agent: json.loads(stamps) for agent, stamps in found.items()}

    async def cursor(self, agent: str, host: str, path: str) -> TranscriptCursor:
        statement = """SELECT * FROM transcript
                       WHERE owner = ? AND host = ? AND agent = ? AND path = ?"""
        row = await self._database.read(
            lambda c: select_one(c, statement, (self._owner, host, agent, path))
        )
        return TranscriptCursor(agent, host, path) if row is None else CURSOR.decode(row)

    async def look_up(self, messages: Collection[str], conversations: Collection[str]) -> StoredIds:
        viewer = self._database.viewer

        def work(connection: apsw.Connection) -> StoredIds:
            gone = dict.fromkeys(find_forgotten(connection, messages, viewer), _NOWHERE)
            said = connection.execute(_PLACES, (viewer, viewer, as_json(messages)))
            found = {uuid: (place, turn) if place else _NOWHERE for uuid, place, turn in said}
            wanted = {*conversations, *(place for place, _ in found.values())}
            turns = dict.fromkeys(find_forgotten(connection, wanted, viewer), BEFORE_FIRST_TURN)
            begun = connection.execute(_TURNS, (viewer, viewer, as_json(wanted)))
            return StoredIds(gone | found, turns | dict(begun))

        return await self._database.read(work)

    async def take_in(self, cursor: TranscriptCursor, steps: Sequence[IntakeStep]) -> bool:
        redactor = self._database.redactor
        # Before the transaction: others write meanwhile.
        clean = await asyncio.to_thread(redact_steps, steps, redactor)
        row = CURSOR.encode(cursor, redactor, owner=self._owner)

        def work(connection: apsw.Connection) -> None:
            connection.execute(_INSERT if cursor.revision == 0 else _UPDATE, row)
            if not connection.changes():
                raise StaleView
            Intake(connection, self._tokeniser, self._database.viewer).apply(clean)

        try:
            await self._database.write(work)
        except StaleView:  # raised, so that nothing of it stays
            return False
        return True

    async def share_copies(self) -> int:
        own = is_own_row(self._database.viewer, "c")
        if not await self._database.read(lambda c: find_copied(c, own)):
            return 0

        def work(connection: apsw.Connection) -> int:
            found = find_copied(connection, own)
            for one in found:
                share_copies(connection, one, self._tokeniser)
            return len(found)

        return await self._database.write(work)


_INSERT = """
INSERT INTO transcript (owner, host, agent, path, stamp, revision, state)
VALUES (:owner, :host, :agent, :path, :stamp, 1, :state) ON CONFLICT DO NOTHING"""
_UPDATE = """
UPDATE transcript SET stamp = :stamp, state = :state, revision = revision + 1
WHERE owner = :owner AND host = :host AND agent = :agent AND path = :path
  AND revision = :revision"""
