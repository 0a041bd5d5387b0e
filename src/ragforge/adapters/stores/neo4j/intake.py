"""Intake: store the sessions of other agents, step by step, and the cursors of transcripts."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace

from ragforge.adapters.stores.neo4j import conversation_nodes as nodes
from ragforge.adapters.stores.neo4j import messages, summary_nodes
from ragforge.adapters.stores.neo4j.branching import (
    find_branching,
    find_copied,
    link,
    remove_if_empty,
    share_copies,
    take_turn,
)
from ragforge.adapters.stores.neo4j.cypher import (
    LOCK,
    assign,
    index_key,
    is_own_node,
    is_seen,
    select_fields,
)
from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase, Transaction
from ragforge.adapters.stores.neo4j.records import find_forgotten
from ragforge.domain import transcripts
from ragforge.domain.chat import UsageRecord
from ragforge.domain.conversations import BEFORE_FIRST_TURN, Message
from ragforge.domain.kinds import STORED, Row
from ragforge.domain.rows import encode_message, redact_steps
from ragforge.domain.schema import CONVERSATION, CURSOR, MESSAGE, USAGE
from ragforge.errors import ConversationNotFound, MessageNotFound, NotAuthor
from ragforge.ports.search_index import Tokeniser

_NOWHERE = (transcripts.FORGOTTEN, BEFORE_FIRST_TURN)


class Neo4jIntake:
    """Applies steps, whose secrets were removed, to the store of one viewer.

    Messages wait until something depends on them: a transaction has few queries.
    """

    def __init__(self, tx: Transaction, tokeniser: Tokeniser) -> None:
        self._tx = tx
        self._tokeniser = tokeniser
        self._own: dict[str, bool] = {}  # conversations that may grow
        self._taken: set[str] = set()  # ids of another author's messages
        self._left: set[str] = set()  # conversations whose newest turn may have moved to a branch
        self._waiting: dict[str, list[Message]] = {}

    async def apply(self, steps: Sequence[transcripts.IntakeStep]) -> None:
        """Apply all steps. Raises StaleView if one of the messages is there already."""
        await self._check_new(
            [one.message.uuid for one in steps if isinstance(one, transcripts.NewMessage)]
        )
        for step in transcripts.merge_results(steps):
            if isinstance(step, transcripts.NewConversation):
                await self._begin(step)
            elif isinstance(step, transcripts.NewMessage):
                is_free = step.message.uuid not in self._taken
                if is_free and await self._is_own(step.conversation_id):
                    self._waiting.setdefault(step.conversation_id, []).append(step.message)
            elif isinstance(step, transcripts.CallResult):
                await self._finish(step)
            elif isinstance(step, transcripts.RetractedMessage):
                await self._retract(step)
            elif isinstance(step, transcripts.TokenCount):
                await self._count(step)
            elif isinstance(step, transcripts.SessionUpdate):
                await self._update(step)
        await self._store_waiting()
        if self._left:
            await remove_if_empty(self._tx, self._left)
        await self._spend(transcripts.pick_usage(steps))

    async def _check_new(self, ids: Sequence[str]) -> None:
        if not ids:
            return
        if await find_forgotten(self._tx, ids):
            raise transcripts.StaleView
        query = """MATCH (m:Message) WHERE m.uuid IN $ids
                   RETURN m.uuid AS uuid, m.conversation_id AS place"""
        for row in await self._tx.rows(query, ids=list(ids)):
            if await self._is_own(row["place"]):
                raise transcripts.StaleView
            self._taken.add(row["uuid"])

    async def _begin(self, step: transcripts.NewConversation) -> None:
        new = step.conversation
        there = "MATCH (c:Conversation {uuid: $id}) RETURN true"
        if await self._tx.value(there, id=new.uuid) or await find_forgotten(self._tx, [new.uuid]):
            return
        await nodes.create(self._tx, CONVERSATION.encode(new, STORED))
        self._own[new.uuid] = True
        if step.after is not None and (last := await self._find(step.after)) is not None:
            await link(self._tx, last["conversation_id"], new.uuid, last["uuid"])

    async def _finish(self, step: transcripts.CallResult) -> None:
        if (row := await self._find(step.message_id)) is None:
            return
        known = CONVERSATION.decode(
            await self._tx.read_item(CONVERSATION, row["conversation_id"], lock=True)
        )
        before, done = await messages.finish_calls(
            self._tx, row, [step.call], STORED, self._tokeniser
        )
        if done == before:
            return
        chars = known.total_chars + done.char_count - before.char_count
        await nodes.put(self._tx, [CONVERSATION.encode(replace(known, total_chars=chars), STORED)])
        await self._mark_grown(row["conversation_id"], {row["turn_index"]}, set())

    async def _retract(self, step: transcripts.RetractedMessage) -> None:
        row = await self._find(step.message_id)
        if row is None or not (row["content"] or row["reasoning"]):
            return
        place, chars = row["conversation_id"], len(row["content"])
        await self._tx.rows(
            """MATCH (m:Message {uuid: $id}) MATCH (c:Conversation {uuid: $place})
               SET m.content = '', m.char_count = m.char_count - $chars,
                   c.total_chars = c.total_chars - $chars
               REMOVE m.reasoning""",
            id=row["uuid"],
            place=place,
            chars=chars,
        )
        await messages.index_turns(self._tx, [(place, row["turn_index"])], self._tokeniser)
        await self._mark_grown(place, {row["turn_index"]}, set())

    async def _count(self, step: transcripts.TokenCount) -> None:
        if await self._find(step.message_id) is not None:
            change = "MATCH (m:Message {uuid: $id}) SET m.token_count = $tokens"
            await self._tx.rows(change, id=step.message_id, tokens=step.tokens)

    async def _spend(self, records: Sequence[UsageRecord]) -> None:
        """Keep what requests took, unless as much is known, or another session has it."""
        own = [one for one in records if await self._is_own(one.conversation_id)]
        await self._tx.each(
            f"""MATCH (c:Conversation {{uuid: row.conversation_id}})
               OPTIONAL MATCH (known:Usage {{uuid: row.uuid}})
               WITH row, c, known WHERE known IS NULL
                 OR known.conversation_id = c.uuid AND known.output_tokens < row.output_tokens
               MERGE (n:Usage {{uuid: row.uuid}})
               SET {assign("n", USAGE)}, n.private_to = c.private_to""",
            USAGE.encode_all(own, STORED),
        )

    async def _update(self, step: transcripts.SessionUpdate) -> None:
        if not await self._is_own(step.conversation_id):
            return
        await self._tx.rows(
            """MATCH (n:Conversation {uuid: $id})
               SET n.agent_version = coalesce($version, n.agent_version),
                   n.git_branch = coalesce($branch, n.git_branch),
                   n.title = CASE WHEN $title IS NOT NULL AND (n.title IS NULL OR n.title = $before)
                             THEN $title ELSE n.title END""",
            id=step.conversation_id,
            version=step.agent_version,
            branch=step.git_branch,
            title=step.title,
            before=step.instead_of,
        )

    async def _find(self, message_id: str) -> Row | None:
        """Return the row of a message, if it was not deleted and is the viewer's."""
        await self._store_waiting()
        try:
            row = await self._tx.read_item(MESSAGE, message_id)
        except MessageNotFound:
            return None
        return row if await self._is_own(row["conversation_id"]) else None

    async def _is_own(self, conversation_id: str) -> bool:
        """Tell whether a conversation is there, and the viewer's."""
        if conversation_id not in self._own:
            try:
                await nodes.lock_own(self._tx, conversation_id)
                self._own[conversation_id] = True
            except (ConversationNotFound, NotAuthor):
                self._own[conversation_id] = False
        return self._own[conversation_id]

    async def _store_waiting(self) -> None:
        """Store the messages that wait; what was made of grown turns before is dropped."""
        waiting, self._waiting = self._waiting, {}
        for conversation_id, said in waiting.items():
            row = await self._tx.read_item(CONVERSATION, conversation_id, lock=True)
            after = None
            if row["message_count"] == 0:
                after = await find_branching(self._tx, conversation_id)
            taken: list[Message] = []
            if after is not None and said[0].role != "user":  # in the middle of a turn
                taken = await take_turn(self._tx, after, row)
                self._left.add(after["conversation_id"])
            new = [encode_message(message, STORED) for message in said]
            placed = await messages.add(self._tx, row, new, self._tokeniser, after)
            placed = [*taken, *placed]
            await nodes.count(self._tx, row, placed)
            opened = {one.turn_index for one in placed if one.role == "user"}
            turns = {one.turn_index for one in placed if one.turn_index is not None}
            await self._mark_grown(conversation_id, turns, opened)

    async def _mark_grown(
        self, conversation_id: str, turns: set[int], new: set[int | None]
    ) -> None:
        place = {"id": conversation_id, "turns": sorted(turns - {BEFORE_FIRST_TURN})}
        heads = (
            "MATCH (m:Message {conversation_id: $id, role: 'user'}) WHERE m.turn_index IN $turns"
        )
        await self._tx.rows(f"{heads} SET m.link_pending = true", **place)
        longer = {"id": conversation_id, "turns": [one for one in place["turns"] if one not in new]}
        if longer["turns"]:
            await self._tx.rows(
                f"{heads} REMOVE m.embedding, m.embedding_model, m.embedding_key", **longer
            )
            covers = await self._tx.column(
                f"{heads} MATCH (s:Summary {{level: 1}})-[:SUMMARIZES]->(m) RETURN DISTINCT s.uuid",
                **longer,
            )
            if covers:
                await summary_nodes.remove(self._tx, covers)


class Neo4jTranscripts:
    """Implements `TranscriptStore`."""

    def __init__(self, database: Neo4jDatabase, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser
        self._owner = database.viewer or ""

    async def stamps(self, host: str) -> dict[str, dict[str, str]]:
        query = """MATCH (n:RagForgeTranscript {owner: $owner, host: $host})
                   RETURN n.agent AS agent, collect([n.path, n.stamp]) AS stamps"""
        rows = await self._database.rows(query, owner=self._owner, host=host)
        return {row["agent"]: dict(row["stamps"]) for row in rows}

    async def cursor(self, agent: str, host: str, path: str) -> transcripts.TranscriptCursor:
        query = f"MATCH (n:RagForgeTranscript {{key: $key}}) RETURN {select_fields('n', CURSOR)}"
        rows = await self._database.column(query, key=self._make_key(host, agent, path))
        return CURSOR.decode(rows[0]) if rows else transcripts.TranscriptCursor(agent, host, path)

    async def look_up(
        self, messages: Collection[str], conversations: Collection[str]
    ) -> transcripts.StoredIds:
        async def work(tx: Transaction) -> transcripts.StoredIds:
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
            return transcripts.StoredIds(gone | found, turns)

        return await self._database.read(work)

    async def take_in(
        self, cursor: transcripts.TranscriptCursor, steps: Sequence[transcripts.IntakeStep]
    ) -> bool:
        redactor = self._database.redactor
        clean = await asyncio.to_thread(redact_steps, steps, redactor)
        moved = replace(cursor, revision=cursor.revision + 1)
        row = CURSOR.encode(moved, redactor, owner=self._owner)
        key = self._make_key(cursor.host, cursor.agent, cursor.path)

        async def work(tx: Transaction) -> None:
            # Two files may hold the same messages: those of one agent are imported one by one.
            await tx.rows(f"MERGE (n:RagForgeTranscript {{key: $key}}) {LOCK}", key=cursor.agent)
            is_moved = await tx.value(
                """MERGE (n:RagForgeTranscript {key: $key}) ON CREATE SET n.revision = 0
                   WITH n WHERE n.revision = $before SET n += $row RETURN true""",
                key=key,
                before=cursor.revision,
                row=row,
            )
            if not is_moved:
                raise transcripts.StaleView
            await Neo4jIntake(tx, self._tokeniser).apply(clean)

        try:
            await self._database.write(work)
        except transcripts.StaleView:  # raised, so that nothing of it stays
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
