"""Branching: a copy of a conversation up to one of its messages."""

from __future__ import annotations

from ragforge.adapters.stores.neo4j import facts, messages
from ragforge.adapters.stores.neo4j.cypher import select_fields
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.adapters.stores.rows import REFERENCE
from ragforge.adapters.stores.table import Stored
from ragforge.domain.branches import MakeId, copy_messages, make_new
from ragforge.domain.conversations import Message
from ragforge.ports.words import Tokeniser


async def copy_until(
    tx: Transaction,
    last: Stored,
    branch: Stored,
    tokeniser: Tokeniser,
    make_id: MakeId = make_new,
) -> list[Message]:
    """Copy what was said up to and including a message into an empty conversation."""
    source = last["conversation_id"]
    await link(tx, source, branch["uuid"], last["uuid"])
    rows = await tx.column(
        f"""MATCH (m:Message {{conversation_id: $source}}) WHERE m.position <= $last
            WITH m ORDER BY m.position RETURN {messages.WITH_CALLS}""",
        source=source,
        last=last["position"],
    )
    originals = [messages.decode_message(row) for row in rows]
    copies = copy_messages(originals, make_id)
    placed = await messages.add(tx, branch, copies, tokeniser)
    pairs = [[old.uuid, new.uuid] for old, new in zip(originals, copies, strict=True)]
    await _copy_vectors(tx, pairs, last["position"])
    await _copy_references(tx, pairs)
    await tx.each(
        """MATCH (old:Message {uuid: row[0]}) WHERE old.link_pending
           MATCH (new:Message {uuid: row[1]}) SET new.link_pending = true""",
        pairs,
    )
    return placed


async def link(tx: Transaction, source: str, target: str, message_id: str) -> None:
    """Note that one conversation is a branch of another."""
    await tx.rows(
        """MATCH (a:Conversation {uuid: $source}) MATCH (b:Conversation {uuid: $target})
           MERGE (a)-[e:HAS_BRANCH]->(b) SET e.message_id = $message_id""",
        source=source,
        target=target,
        message_id=message_id,
    )


async def _copy_vectors(tx: Transaction, pairs: list[list[str]], last: int) -> None:
    """Copy vectors of turns, except of one the branch cuts: its vector knows what followed."""
    await tx.each(
        """MATCH (old:Message {uuid: row[0]})
           WHERE old.embedding IS NOT NULL AND NOT EXISTS {
             MATCH (later:Message {
               conversation_id: old.conversation_id, turn_index: old.turn_index})
             WHERE later.position > $last }
           MATCH (new:Message {uuid: row[1]})
           SET new += old {.embedding, .embedding_model, .embedding_key}""",
        pairs,
        last=last,
    )


async def _copy_references(tx: Transaction, pairs: list[list[str]]) -> None:
    rows = await tx.each(
        f"""MATCH (f:CodeReference {{owner_id: row[0]}})
            RETURN {select_fields("f", REFERENCE)} AS fact, row[1] AS owner""",
        pairs,
    )
    await facts.put_references(tx, [row["fact"] | {"owner_id": row["owner"]} for row in rows])
