"""Messages: nodes of messages, tool calls and results, and the turns they make."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ragforge.adapters.stores.neo4j.cypher import assign, select_fields
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.adapters.stores.rows import (
    MESSAGE,
    TOOL_CALL,
    TOOL_RESULT,
    decode_tool_call,
    encode_tool_result,
    find_unfinished,
)
from ragforge.adapters.stores.table import Row, Stored
from ragforge.domain.conversations import BEFORE_FIRST_TURN, Message, ToolCall
from ragforge.domain.turns import Turn, format_turn_for_search, group_into_turns
from ragforge.errors import DuplicateId, TurnNotFound
from ragforge.ports.words import Tokeniser

CALL = f"{{call: {select_fields('t', TOOL_CALL)}, result: {select_fields('r', TOOL_RESULT)}}}"
"""A tool call with its result, which is null where there is none."""
WITH_CALLS = f"""{select_fields("m", MESSAGE)} AS message, COLLECT {{
      MATCH (m)-[:MADE_TOOL_CALL]->(t:ToolCall)
      OPTIONAL MATCH (t)-[:PRODUCED_RESULT]->(r:ToolResult)
      WITH t, r ORDER BY t.position RETURN {CALL} }} AS calls"""
"""What to return of a message `m`, to be read by `loaded`."""


def decode_message(row: Stored) -> Message:
    """Return the message of a row that holds it with its calls."""
    return MESSAGE.decode(
        row["message"], tool_calls=tuple(decode_call(call) for call in row["calls"])
    )


def decode_call(row: Stored) -> ToolCall:
    """Return the tool call of a row that holds it with its result."""
    return decode_tool_call(row["call"], row["result"])


async def add(
    tx: Transaction, conversation: Stored, messages: Sequence[Message], tokeniser: Tokeniser
) -> list[Message]:
    """Append messages to a conversation whose lock is held: nodes, turns and words.

    Raises TurnNotFound, DuplicateId.
    """
    placed = await _place(tx, conversation["uuid"], messages)
    await insert_placed(tx, conversation, placed)
    turns = {(conversation["uuid"], message.turn_index or 0) for message in placed}
    await index_turns(tx, turns, tokeniser)
    return placed


async def _place(
    tx: Transaction, conversation_id: str, messages: Sequence[Message]
) -> list[Message]:
    """Give each message its turn and position."""
    newest = await _find_newest(tx, conversation_id, "turn_index")
    position = await _find_newest(tx, conversation_id, "position") + 1
    named = {m.turn_index for m in messages if m.role != "user" and m.turn_index is not None}
    known = await _find_turns(tx, conversation_id, named) | {BEFORE_FIRST_TURN}
    placed = []
    for message in messages:
        turn_index = newest if message.turn_index is None else message.turn_index
        if message.role == "user":
            newest = turn_index = newest + 1
            known.add(newest)
        elif message.turn_index is not None and turn_index not in known:
            raise TurnNotFound(f"{turn_index} of conversation {conversation_id}")
        placed.append(replace(message, turn_index=turn_index, position=position))
        position += 1
    return placed


async def _find_newest(tx: Transaction, conversation_id: str, name: str) -> int:
    """Return the highest turn index or position, or -1 if there is none."""
    # The bound and the order match the index on both, which then answers at once.
    query = f"""MATCH (m:Message) WHERE m.conversation_id = $id AND m.{name} >= 0
                RETURN m.{name} ORDER BY m.conversation_id DESC, m.{name} DESC LIMIT 1"""
    found = await tx.value(query, id=conversation_id)
    return -1 if found is None else int(found)


async def _find_turns(tx: Transaction, conversation_id: str, indexes: Iterable[int]) -> set[int]:
    return set(
        await tx.column(
            """MATCH (m:Message {conversation_id: $id, role: 'user'})
               WHERE m.turn_index IN $indexes RETURN m.turn_index""",
            id=conversation_id,
            indexes=list(indexes),
        )
    )


async def insert_placed(tx: Transaction, conversation: Stored, messages: Sequence[Message]) -> None:
    """Store new messages that know their turn and position. Raises DuplicateId."""
    rows, calls, results = [], [], []
    for message in messages:
        rows.append(MESSAGE.encode(message, conversation_id=conversation["uuid"]))
        for position, call in enumerate(message.tool_calls):
            calls.append(TOOL_CALL.encode(call, message_id=message.uuid, position=position))
            if call.result is not None:
                results.append(encode_tool_result(call.uuid, call.result))
    await _check_free(tx, rows, calls, results)
    await put_messages(tx, conversation, rows)
    await put_calls(tx, calls)
    await put_results(tx, results)


async def finish_calls(
    tx: Transaction, row: Stored, calls: Sequence[ToolCall], tokeniser: Tokeniser
) -> tuple[Message, Message]:
    """Give calls of a message their results; return it as it was and as it is.

    Calls that have a result keep it. The conversation's lock is held.
    """
    query = f"MATCH (m:Message {{uuid: $id}}) RETURN {WITH_CALLS}"
    before = decode_message((await tx.rows(query, id=row["uuid"]))[0])
    finished = find_unfinished(before, calls)
    await tx.each(
        "MATCH (t:ToolCall {uuid: row.uuid}) SET t.success = row.success, "
        "t.duration_ms = row.duration_ms",
        [
            {"uuid": call.uuid, "success": call.success, "duration_ms": call.duration_ms}
            for call, _ in finished
        ],
    )
    await put_results(tx, [encode_tool_result(call.uuid, result) for call, result in finished])
    done = decode_message((await tx.rows(query, id=row["uuid"]))[0])
    await tx.rows(
        "MATCH (m:Message {uuid: $id}) SET m.char_count = $chars",
        id=row["uuid"],
        chars=done.char_count,
    )
    await index_turns(tx, [(row["conversation_id"], row["turn_index"])], tokeniser)
    return before, done


async def _check_free(
    tx: Transaction, messages: list[Row], calls: list[Row], results: list[Row]
) -> None:
    kinds = {"message": messages, "tool call": calls, "tool result": results}
    for kind, rows in kinds.items():
        for uuid, count in Counter(row["uuid"] for row in rows).items():
            if count > 1:
                raise DuplicateId(kind, uuid)
    taken = await tx.row(
        """UNWIND $messages AS id MATCH (n:Message {uuid: id}) RETURN 'message' AS kind, id
           UNION ALL
           UNWIND $calls AS id MATCH (n:ToolCall {uuid: id}) RETURN 'tool call' AS kind, id
           UNION ALL
           UNWIND $results AS id MATCH (n:ToolResult {uuid: id})
           RETURN 'tool result' AS kind, id""",
        messages=[row["uuid"] for row in messages],
        calls=[row["uuid"] for row in calls],
        results=[row["uuid"] for row in results],
    )
    if taken is not None:
        raise DuplicateId(taken["kind"], taken["id"])


async def put_messages(tx: Transaction, conversation: Stored, rows: Sequence[Row]) -> None:
    """Store messages of a conversation, or change those that are there."""
    # Only the head of a turn is searched, so only it needs to know its project.
    project = conversation["project_path"]
    heads = [row | {"project_path": project} if row["role"] == "user" else row for row in rows]
    await tx.each(
        f"""MATCH (c:Conversation {{uuid: $id}})
            MERGE (m:Message {{uuid: row.uuid}}) SET {assign("m", MESSAGE)}
            MERGE (c)-[:HAS_MESSAGE]->(m)""",
        heads,
        id=conversation["uuid"],
    )


async def put_calls(tx: Transaction, rows: Sequence[Row]) -> None:
    """Store tool calls of known messages, or change those that are there."""
    await tx.each(
        f"""MATCH (m:Message {{uuid: row.message_id}})
            MERGE (t:ToolCall {{uuid: row.uuid}}) SET {assign("t", TOOL_CALL)}
            MERGE (m)-[:MADE_TOOL_CALL]->(t)""",
        rows,
    )


async def put_results(tx: Transaction, rows: Sequence[Row]) -> None:
    """Store results of known tool calls, or change those that are there."""
    await tx.each(
        f"""MATCH (t:ToolCall {{uuid: row.tool_call_id}})
            MERGE (r:ToolResult {{uuid: row.uuid}}) SET {assign("r", TOOL_RESULT)}
            MERGE (t)-[:PRODUCED_RESULT]->(r)""",
        rows,
    )


async def index_turns(
    tx: Transaction, turns: Iterable[tuple[str, int]], tokeniser: Tokeniser
) -> None:
    """Index the words of turns, given by conversation and index, as they are now."""
    rows = await tx.each(
        f"""MATCH (m:Message {{conversation_id: row[0], turn_index: row[1]}})
            WITH m ORDER BY m.position RETURN {WITH_CALLS}""",
        [list(turn) for turn in turns],
    )
    by_conversation = defaultdict(list)
    for row in rows:
        by_conversation[row["message"]["conversation_id"]].append(decode_message(row))
    found = (turn for said in by_conversation.values() for turn in group_into_turns(said))
    await put_words(tx, found, tokeniser)


async def put_words(tx: Transaction, turns: Iterable[Turn], tokeniser: Tokeniser) -> None:
    """Index the words of turns that are there whole."""
    words = [
        {"uuid": turn.uuid, "words": tokeniser.prose(format_turn_for_search(turn))}
        for turn in turns
    ]
    await tx.each("MATCH (m:Message {uuid: row.uuid}) SET m.words = row.words", words)


async def delete_messages(tx: Transaction, conversation_id: str) -> None:
    """Delete the messages of a conversation with their calls, results and references."""
    await tx.rows(
        """MATCH (m:Message {conversation_id: $id})
           OPTIONAL MATCH (m)-[:MADE_TOOL_CALL]->(t:ToolCall)
           OPTIONAL MATCH (t)-[:PRODUCED_RESULT]->(r:ToolResult)
           OPTIONAL MATCH (f:CodeReference {owner_id: m.uuid})
           DETACH DELETE f, r, t, m""",
        id=conversation_id,
    )
