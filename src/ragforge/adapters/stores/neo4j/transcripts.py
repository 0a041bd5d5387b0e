"""Other agents' transcripts in Neo4j: cursors, and which ids are stored."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace

from ragforge.adapters.stores.neo4j.branching import find_copied, share_copies
from ragforge.adapters.stores.neo4j.cypher import (
    LOCK,
    index_key,
    is_own_node,
    is_seen,
    select_fields,
)
from ragforge.adapters.stores.neo4j.driver import Database, Transaction
from ragforge.adapters.stores.neo4j.forgotten import find_forgotten
from ragforge.adapters.stores.neo4j.intake import Intake
from ragforge.adapters.stores.stale_view import StaleView
from ragforge.domain.conversations import BEFORE_FIRST_TURN
from ragforge.domain.rows import redact_steps
from ragforge.domain.schema import CURSOR
from ragforge.domain.transcripts import FORGOTTEN, IntakeStep, StoredIds, TranscriptCursor
from ragforge.ports.words import Tokeniser

_NOWHERE = (FORGOTTEN, BEFORE_FIRST_TURN)


class Neo4jTranscripts:
    """Keeps the promises of `TranscriptStore`."""

    def __init__(self, database: Database, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser
        self._owner = database.viewer or ""

    async def stamps(self, host: str) -> dict[str, dict[str, str]]:
        query = """MATCH (n:RagForgeTranscript {owner: $owner, host: $host})
                   RETURN n.agent AS agent, collect([n.path, n.stamp]) AS stamps"""
        rows = await self._database.rows(query, owner=self._owner, host=host)
        return {row["agent"]: dict(row["stamps"]) for row in rows}

    async def cursor(self, agent: str, host: str, path: str) -> TranscriptCursor:
        query = f"MATCH (n:RagForgeTranscript {{key: $key}}) RETURN {select_fields('n', CURSOR)}"
        rows = await self._database.column(query, key=self._make_key(host, agent, path))
        return CURSOR.decode(rows[0]) if rows else TranscriptCursor(agent, host, path)

    async def look_up(self, messages: Collection[str], conversations: Collection[str]) -> StoredIds:
        async def work(tx: Transaction) -> StoredIds:
            gone = dict.fromkeys(await find_forgotten(tx, messages), _NOWHERE)
            said = await tx.rows(
                f"""MATCH (m:Message) WHERE m.uuid IN $ids AND {is_seen("m")}
                   MATCH (c:Conversation {{uuid: m.conversation_id}})
                   RETURN m.uuid AS uuid, m.turn_index AS turn,
                     CASE WHEN {is_own_node("c")} THEN c.uuid END AS place""",
                ids=list(messages),
            )
            found = {
                row["uuid"]: (row["place"], row["turn"]) if row["place"] else _NOWHERE
                for row in said
            }
            wanted = {*conversations, *(place for place, _ in found.values())}
            turns = dict.fromkeys(await find_forgotten(tx, wanted), BEFORE_FIRST_TURN)
            begun = await tx.rows(
                f"""MATCH (c:Conversation) WHERE c.uuid IN $ids AND {is_seen("c")}
                   OPTIONAL MATCH (m:Message {{conversation_id: c.uuid, role: 'user'}})
                   WITH c, max(m.turn_index) AS newest
                   RETURN c.uuid AS uuid,
                     CASE WHEN {is_own_node("c")} THEN newest END AS turn""",
                ids=list(wanted),
            )
            for row in begun:
                turns[row["uuid"]] = BEFORE_FIRST_TURN if row["turn"] is None else row["turn"]
            return StoredIds(gone | found, turns)

        return await self._database.read(work)

    async def take_in(self, cursor: TranscriptCursor, steps: Sequence[IntakeStep]) -> bool:
        redactor = self._database.redactor
        clean = await asyncio.to_thread(redact_steps, steps, redactor)
        moved = replace(cursor, revision=cursor.revision + 1)
        row = CURSOR.encode(moved, redactor, owner=self._owner)
        key = self._make_key(cursor.host, cursor.agent, cursor.path)

        async def work(tx: Transaction) -> None:
            # Two files may hold the same messages: those of one agent are taken in one by one.
            await tx.rows(f"MERGE (n:RagForgeTranscript {{key: $key}}) {LOCK}", key=cursor.agent)
            is_moved = await tx.value(
                """MERGE (n:RagForgeTranscript {key: $key}) ON CREATE SET n.revision = 0
                   WITH n WHERE n.revision = $before SET n += $row RETURN true""",
                key=key,
                before=cursor.revision,
                row=row,
            )
            if not is_moved:
                raise StaleView
            await Intake(tx, self._tokeniser).apply(clean)

        try:
            await self._database.write(work)
        except StaleView:  # raised, so that nothing of it stays
            return False
        return True

    async def share_copies(self) -> int:
        if not await self._database.read(find_copied):
            return 0

        async def work(tx: Transaction) -> int:
            found = await find_copied(tx)
            for one in found:
                await share_copies(tx, one, self._tokeniser)
            return len(found)

        return await self._database.write(work)

    def _make_key(self, host: str, agent: str, path: str) -> str:
        return index_key("\0".join((self._owner, host, agent, path)))
