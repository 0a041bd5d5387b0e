"""Branching: a copy of a conversation up to one of its messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragforge.adapters.stores.neo4j import facts, messages
from ragforge.adapters.stores.neo4j.cypher import REFERENCE, fields
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.adapters.stores.rows import Stored
from ragforge.domain.conversations import Message, ToolCall
from ragforge.domain.text import new_id
from ragforge.ports.words import Tokeniser


async def copy_until(
    tx: Transaction, last: Stored, branch: Stored, tokeniser: Tokeniser
) -> list[Message]:
    """Copy what was said up to and including a message into an empty conversation."""
    source = last["conversation_id"]
    await link(tx, source, branch["uuid"], last["uuid"])
    rows = await tx.rows(
        f"""MATCH (m:Message {{conversation_id: $source}}) WHERE m.position <= $last
            WITH m ORDER BY m.position RETURN {messages.WITH_CALLS}""",
        source=source,
        last=last["position"],
    )
    originals = [messages.loaded(row) for row in rows]
    copies = _fresh(originals)
    placed = await messages.add(tx, branch, copies, tokeniser)
    pairs = [[old.uuid, new.uuid] for old, new in zip(originals, copies, strict=True)]
    await _copy_vectors(tx, pairs, last["position"])
    await _copy_references(tx, pairs)
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


def _fresh(originals: Sequence[Message]) -> list[Message]:
    """Return copies with new ids; turns count anew, for deleted ones may have left gaps."""
    turns = [message.turn_index for message in originals if message.role == "user"]
    renumbered = {old: new for new, old in enumerate(turns)}
    return [
        replace(
            message,
            uuid=new_id(),
            turn_index=renumbered.get(message.turn_index),
            tool_calls=tuple(_fresh_call(call) for call in message.tool_calls),
        )
        for message in originals
    ]


def _fresh_call(call: ToolCall) -> ToolCall:
    result = None if call.result is None else replace(call.result, uuid=new_id())
    return replace(call, uuid=new_id(), result=result)


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
            RETURN {fields("f", REFERENCE)} AS fact, row[1] AS owner""",
        pairs,
    )
    await facts.put_references(tx, [row["fact"] | {"owner_id": row["owner"]} for row in rows])
