"""Messages: nodes of messages, tool calls and results, and the turns they make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragforge.adapters.stores.neo4j.cypher import assign, is_seen, select_values
from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase, Transaction
from ragforge.domain.conversations import Message, ToolCall
from ragforge.domain.instants import to_epoch_ms
from ragforge.domain.kinds import STORED, CleanRow, Redactor, Row, Stored
from ragforge.domain.passages import PassageKind, list_passages
from ragforge.domain.rows import (
    EncodedMessage,
    encode_tool_result,
    find_unfinished,
    list_named_turns,
    place_messages,
)
from ragforge.domain.schema import MESSAGE, PASSAGE, TOOL_CALL, TOOL_RESULT
from ragforge.domain.turns import StoredTurn, Turn, format_turn_for_search, group_into_turns
from ragforge.errors import DuplicateId
from ragforge.ports.search_index import Tokeniser

CALL = f"""[{select_values("t", TOOL_CALL.read)},
    CASE WHEN r IS NOT NULL THEN {select_values("r", TOOL_RESULT.read)} END]"""
"""A tool call with its result, which is null where there is none."""
_CALLS = f"""COLLECT {{
      MATCH (m)-[:MADE_TOOL_CALL]->(t:ToolCall)
      OPTIONAL MATCH (t)-[:PRODUCED_RESULT]->(r:ToolResult)
      WITH t, r ORDER BY t.position RETURN {CALL} }}"""
WITH_CALLS = f"[{select_values('m', MESSAGE.read)}, {_CALLS}]"
"""What to return of a message `m`, to be read by `decode_message`."""
WITHOUT_RECEIPT = WITH_CALLS.replace("m.receipt", "null")
"""The same but its receipt, which is longer than all the rest."""


INDEXES: Mapping[PassageKind, str] = {
    "said": "ragforge_passage_words",
    "done": "ragforge_deed_words",
}
_WORDS: Mapping[PassageKind, str] = {"said": "words", "done": "deeds"}
"""The property with the words of a passage: it decides which index finds it."""

PUT = """FOREACH (passage IN row.passages |
           MERGE (p:Passage {uuid: passage.uuid}) SET p += passage
           MERGE (m)-[:HAS_PASSAGE]->(p))"""
"""Store the passages of a row as those of its turn, whose first message is `m`."""
DELETE = """CALL (m) { MATCH (m)-[:HAS_PASSAGE]->(p:Passage) DETACH DELETE p }"""
"""Delete the passages of turns `m`."""
REPLACE = f"""CALL (m, row) {{
      MATCH (m)-[:HAS_PASSAGE]->(p:Passage)
      WHERE NOT any(one IN row.passages WHERE one.uuid = p.uuid AND one.text = p.text)
      DETACH DELETE p
    }}
    {PUT}"""
"""Do as `PUT`, and delete the others. Passages whose text is as it was keep their vectors."""


def format_turns(back: int = 0) -> str:
    """Return the query for the turns that begin with `h`, or those `back` turns before them.

    To be read by `decode_turns`. All in one row: the driver is slow to read many.
    """
    return f"""
        MATCH (m:Message {{conversation_id: h.conversation_id, turn_index: h.turn_index - {back}}})
        WITH h, m ORDER BY m.position
        WITH h, {WITHOUT_RECEIPT} AS message
        WITH h, collect(message) AS messages
        RETURN collect([h.uuid, h.conversation_id, messages]) AS turns"""


_TAKEN = """COLLECT {
      UNWIND $messages AS id MATCH (:Message {uuid: id}) RETURN ['message', id] AS taken
      UNION ALL
      UNWIND $calls AS id MATCH (:ToolCall {uuid: id}) RETURN ['tool call', id] AS taken
      UNION ALL
      UNWIND $results AS id MATCH (:ToolResult {uuid: id}) RETURN ['tool result', id] AS taken }"""
"""Which ids of new messages, calls and results are taken."""


def decode_message(stored: Sequence[Any]) -> Message:
    """Return the message of the values that hold it with its calls."""
    message, calls = stored
    return MESSAGE.decode_values(message, tool_calls=tuple(map(decode_call, calls)))


async def read_turns(
    database: Neo4jDatabase, turn_ids: Sequence[str], back: int = 0
) -> dict[str, StoredTurn]:
    """Return turns by id, or those `back` turns before them."""
    if not turn_ids:
        return {}
    heads = f"MATCH (h:Message) WHERE h.uuid IN $ids AND h.role = 'user' AND {is_seen('h')}"
    return decode_turns(await database.value(f"{heads} {format_turns(back)}", ids=list(turn_ids)))


def decode_turns(stored: Iterable[Sequence[Any]]) -> dict[str, StoredTurn]:
    """Return the turns of the values that hold them, by id."""
    return {
        turn: StoredTurn(owner, [decode_message(row) for row in messages])
        for turn, owner, messages in stored
    }


def decode_call(stored: Sequence[Any]) -> ToolCall:
    """Return the tool call of the values that hold it with its result."""
    call, result = stored
    found = None if result is None else TOOL_RESULT.decode_values(result)
    return TOOL_CALL.decode_values(call, result=found)


async def add(
    tx: Transaction,
    conversation: Stored,
    messages: Sequence[EncodedMessage],
    tokeniser: Tokeniser,
    after: Stored | None = None,
) -> list[Message]:
    """Append messages to a conversation whose lock is held: nodes, turns, words and passages.

    Those of an empty branch are numbered on from the message `after` which it branches off.
    Raises TurnNotFound, DuplicateId.
    """
    encoded = await _place(tx, conversation, messages, after)
    placed = [one.message for one in encoded]
    opened = group_into_turns(placed)  # all of these turns is here, so their words are known
    await _insert(tx, encoded, [_make_index(turn, conversation, tokeniser) for turn in opened])
    known = {turn.user.turn_index for turn in opened}
    longer = {message.turn_index or 0 for message in placed if message.turn_index not in known}
    await index_turns(tx, [(conversation["uuid"], turn) for turn in longer], tokeniser)
    return placed


async def _place(
    tx: Transaction, conversation: Stored, messages: Sequence[EncodedMessage], after: Stored | None
) -> list[EncodedMessage]:
    """Give each message its turn and position. Raises TurnNotFound, DuplicateId."""
    uuid = conversation["uuid"]
    newest, position = await _find_end(tx, uuid, [one.message for one in messages])
    if after is not None:
        newest, position = after["turn_index"], after["position"] + 1
    named = list_named_turns(messages)
    known = await _find_turns(tx, uuid, named) if named else set()
    return place_messages(conversation, messages, newest, position, known)


async def _find_end(
    tx: Transaction, conversation_id: str, messages: Sequence[Message]
) -> tuple[int, int]:
    """Return the highest turn index, or -1 if there is none, and the next free position.

    Raises DuplicateId if the id of a message, of a call or a result is taken.
    """
    # The bound and the order match the index on both, which then answers at once.
    highest = """COLLECT {{ MATCH (m:Message) WHERE m.conversation_id = $id AND m.{0} >= 0
                 RETURN m.{0} ORDER BY m.conversation_id DESC, m.{0} DESC LIMIT 1 }}"""
    turns, places = highest.format("turn_index"), highest.format("position")
    [row] = await tx.rows(
        f"RETURN {turns} + -1 AS turns, {places} + -1 AS places, {_TAKEN} AS taken",
        id=conversation_id,
        **_collect_ids(messages),
    )
    for kind, uuid in row["taken"]:
        raise DuplicateId(kind, uuid)
    return int(row["turns"][0]), int(row["places"][0]) + 1


async def _find_turns(tx: Transaction, conversation_id: str, indexes: Iterable[int]) -> set[int]:
    return set(
        await tx.column(
            """MATCH (m:Message {conversation_id: $id, role: 'user'})
               WHERE m.turn_index IN $indexes RETURN m.turn_index""",
            id=conversation_id,
            indexes=list(indexes),
        )
    )


async def insert_placed(tx: Transaction, messages: Sequence[EncodedMessage]) -> None:
    """Store new messages that know their turn and position, without the words of their turns.

    Raises DuplicateId.
    """
    ids = _collect_ids([one.message for one in messages])
    for kind, uuid in await tx.value(f"RETURN {_TAKEN}", **ids):
        raise DuplicateId(kind, uuid)
    await _insert(tx, messages)


async def _insert(
    tx: Transaction, messages: Sequence[EncodedMessage], indexed: Iterable[Row] = ()
) -> None:
    words, passages = {}, {}
    for turn in indexed:
        words[turn["uuid"]] = {"words": turn["words"]}
        passages[turn["uuid"]] = turn["passages"]
    rows = [CleanRow(one.row | words.get(one.row["uuid"], {})) for one in messages]
    await put_messages(tx, rows, passages)
    await put_calls(
        tx,
        [call for one in messages for call in one.calls],
        [result for one in messages for result in one.results],
    )


async def finish_calls(
    tx: Transaction,
    row: Stored,
    calls: Sequence[ToolCall],
    redactor: Redactor,
    tokeniser: Tokeniser,
) -> tuple[Message, Message]:
    """Give calls of a message their results; return the message before and after.

    Calls that have a result keep it. The conversation's lock is held.
    """
    query = f"MATCH (m:Message {{uuid: $id}}) RETURN {WITH_CALLS}"
    before = decode_message(await tx.value(query, id=row["uuid"]))
    finished = find_unfinished(before, calls)
    await tx.each(
        "MATCH (t:ToolCall {uuid: row.uuid}) SET t.success = row.success, "
        "t.duration_ms = row.duration_ms",
        [
            {"uuid": call.uuid, "success": call.success, "duration_ms": call.duration_ms}
            for call, _ in finished
        ],
    )
    await put_results(
        tx, [encode_tool_result(call.uuid, result, redactor) for call, result in finished]
    )
    done = decode_message(await tx.value(query, id=row["uuid"]))
    await tx.rows(
        "MATCH (m:Message {uuid: $id}) SET m.char_count = $chars",
        id=row["uuid"],
        chars=done.char_count,
    )
    await index_turns(tx, [(row["conversation_id"], row["turn_index"])], tokeniser)
    return before, done


def _collect_ids(messages: Sequence[Message]) -> dict[str, list[str]]:
    """Return the ids of new messages, of their calls and of the results.

    Raises DuplicateId if two of them have one.
    """
    made = [call for message in messages for call in message.tool_calls]
    ids = {
        "message": [message.uuid for message in messages],
        "tool call": [call.uuid for call in made],
        "tool result": [call.result.uuid for call in made if call.result is not None],
    }
    for kind, found in ids.items():
        for uuid, count in Counter(found).items():
            if count > 1:
                raise DuplicateId(kind, uuid)
    return dict(zip(("messages", "calls", "results"), ids.values(), strict=True))


async def put_messages(
    tx: Transaction, rows: Sequence[CleanRow], passages: Mapping[str, Sequence[Row]] | None = None
) -> None:
    """Store messages of known conversations, or change those that are there.

    New turns may come with their `passages`, by the ids of the turns.
    """
    passages = passages or {}
    # Only the head of a turn is searched, so only it needs to know its project.
    await tx.each(
        f"""MATCH (c:Conversation {{uuid: row.said.conversation_id}})
            MERGE (m:Message {{uuid: row.said.uuid}}) SET {assign("m", MESSAGE, "row.said")},
              m.project_id = CASE row.said.role WHEN 'user' THEN c.project_id END
            MERGE (c)-[:HAS_MESSAGE]->(m)
            {PUT}""",
        [{"said": row, "passages": passages.get(row["uuid"], ())} for row in rows],
    )


async def put_calls(
    tx: Transaction, rows: Sequence[CleanRow], results: Sequence[CleanRow] = ()
) -> None:
    """Store tool calls of known messages and their results, or change those that are there."""
    result_of = {result["tool_call_id"]: [result] for result in results}
    await tx.each(
        f"""MATCH (m:Message {{uuid: row.call.message_id}})
            MERGE (t:ToolCall {{uuid: row.call.uuid}}) SET {assign("t", TOOL_CALL, "row.call")}
            MERGE (m)-[:MADE_TOOL_CALL]->(t)
            FOREACH (result IN row.results |
              MERGE (r:ToolResult {{uuid: result.uuid}}) SET {assign("r", TOOL_RESULT, "result")}
              MERGE (t)-[:PRODUCED_RESULT]->(r))""",
        [{"call": row, "results": result_of.get(row["uuid"], [])} for row in rows],
    )


async def put_results(tx: Transaction, rows: Sequence[CleanRow]) -> None:
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
    """Index the words of turns, given by conversation and index, as they are now.

    Their passages are made again.
    """
    rows = await tx.each(
        f"""MATCH (m:Message {{conversation_id: row[0], turn_index: row[1]}})
            WITH m ORDER BY m.position
            WITH m.conversation_id AS owner, {WITHOUT_RECEIPT} AS message
            WITH owner, collect(message) AS messages
            MATCH (c:Conversation {{uuid: owner}})
            RETURN c {{.uuid, .project_id, .private_to, .project_path, .cwd}} AS owner, messages""",
        [list(turn) for turn in turns],
    )
    indexed = [
        _make_index(turn, row["owner"], tokeniser)
        for row in rows
        for turn in group_into_turns(map(decode_message, row["messages"]))
    ]
    await tx.each(
        f"""MATCH (m:Message {{uuid: row.uuid}}) SET m.words = row.words
            WITH m, row {REPLACE}""",
        indexed,
    )


def _make_index(turn: Turn, conversation: Stored, tokeniser: Tokeniser) -> Row:
    """Return what a turn of a conversation is found by: its words and its passages."""
    return {
        "uuid": turn.uuid,
        "words": tokeniser.prose(format_turn_for_search(turn)),
        "passages": make_passages(turn, conversation, tokeniser),
    }


async def delete_messages(
    tx: Transaction,
    conversation_id: str,
    first_turn: int | None = None,
    last_turn: int | None = None,
    last_position: int | None = None,
) -> None:
    """Delete messages of a conversation with their passages, calls, results and references.

    Those of some turns only, or up to a position, if these are given.
    """
    await tx.rows(
        f"""MATCH (m:Message {{conversation_id: $id}})
            WHERE ($first IS NULL OR $first <= m.turn_index <= $last)
              AND ($position IS NULL OR m.position <= $position)
            {DELETE}
            OPTIONAL MATCH (m)-[:MADE_TOOL_CALL]->(t:ToolCall)
            OPTIONAL MATCH (t)-[:PRODUCED_RESULT]->(r:ToolResult)
            OPTIONAL MATCH (f:CodeReference {{owner_id: m.uuid}})
            DETACH DELETE f, r, t, m""",
        id=conversation_id,
        first=first_turn,
        last=last_turn,
        position=last_position,
    )


def make_passages(turn: Turn, conversation: Stored, tokeniser: Tokeniser) -> list[Row]:
    """Return the passages of a turn with their words, as they are stored."""
    owner = {
        "project_id": conversation["project_id"],
        "private_to": conversation["private_to"],
        "turn_index": turn.user.turn_index,
        "started_ms": to_epoch_ms(turn.user.timestamp),
    }
    place = (conversation["uuid"], conversation["project_path"], conversation["cwd"])
    return [
        PASSAGE.encode(passage, STORED, **owner) | {_WORDS[passage.kind]: tokeniser.prose(text)}
        for passage, text in list_passages(turn, *place)
    ]
