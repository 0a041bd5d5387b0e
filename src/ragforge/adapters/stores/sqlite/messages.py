"""Messages: rows of messages, tool calls and results, and the turns they make."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from operator import itemgetter

from ragforge.adapters.stores.sqlite import words
from ragforge.adapters.stores.sqlite.sql import Connection, as_json
from ragforge.domain.conversations import BEFORE_FIRST_TURN, Message, ToolCall
from ragforge.domain.kinds import STORED, CleanRow, Redactor, Row
from ragforge.domain.passages import IndexedPassage, list_passages
from ragforge.domain.rows import (
    EncodedMessage,
    decode_tool_call,
    encode_tool_result,
    find_unfinished,
    list_named_turns,
    place_messages,
)
from ragforge.domain.schema import MESSAGE, PASSAGE
from ragforge.domain.turns import (
    SEARCHED_CHARS,
    StoredTurn,
    Turn,
    format_turn_for_search,
    group_into_turns,
)
from ragforge.errors import TurnNotFound
from ragforge.ports.search_index import Tokeniser

_NO_RECEIPT = "NULL AS receipt"
_CUT = {
    "content": f"substr(content, 1, {SEARCHED_CHARS}) AS content",
    "reasoning": "NULL AS reasoning",
    "receipt": _NO_RECEIPT,
}
_SEARCHED = ", ".join(_CUT.get(column, column) for column in MESSAGE)
"""What of a message is indexed by words: a large answer is not read again in full for it."""
WITHOUT_RECEIPT = ", ".join(
    _NO_RECEIPT if column == "receipt" else f"m.{column}" for column in MESSAGE
)
"""The columns of a message `m` but its receipt, which is longer than all of them."""


def add(
    db: Connection, conversation: Row, messages: Sequence[EncodedMessage], words: Tokeniser
) -> list[Message]:
    """Append messages to a conversation: rows, turns, words and counters."""
    uuid = conversation["uuid"]
    placed = _place(db, conversation, messages)
    for message in placed:
        insert_placed(db, conversation, message)
    for turn_index in sorted({message.row["turn_index"] for message in placed}):
        index_turn(db, uuid, turn_index, words)
    return [one.message for one in placed]


def _place(
    db: Connection, conversation: Row, messages: Sequence[EncodedMessage]
) -> list[EncodedMessage]:
    """Give each message its turn and position. Raises TurnNotFound."""
    uuid, known = conversation["uuid"], list[int]()
    newest, position = _find_end(db, uuid)
    if named := list_named_turns(messages):
        statement = """SELECT turn_index FROM turn WHERE conversation_id = ?
                       AND turn_index IN (SELECT value FROM json_each(?))"""
        known = db.column(statement, (uuid, as_json(named)))
    return place_messages(conversation, messages, newest, position, known)


def _find_end(db: Connection, conversation_id: str) -> tuple[int, int]:
    """Return the newest turn of a conversation and the position of its next message."""
    turn = "SELECT max(turn_index) FROM turn WHERE conversation_id = ?"
    place = "SELECT max(position) FROM message WHERE conversation_id = ?"
    newest, last = (db.value(one, (conversation_id,)) for one in (turn, place))
    return BEFORE_FIRST_TURN if newest is None else newest, 0 if last is None else last + 1


def insert_placed(db: Connection, conversation: Row, message: EncodedMessage) -> None:
    """Add a message that knows its turn and position; a user's opens its turn."""
    db.insert("message", message.row)
    for call in message.calls:
        db.insert("tool_call", call)
    for result in message.results:
        db.insert("tool_result", result)
    if message.row["role"] == "user":
        _open_turn(db, conversation, message.row)


def finish_calls(
    db: Connection, row: Row, calls: Sequence[ToolCall], redactor: Redactor, tokeniser: Tokeniser
) -> Message:
    """Give calls of a message their results; calls that have one keep it."""
    [before] = load(db, [row])
    for call, result in find_unfinished(before, calls):
        db.insert("tool_result", encode_tool_result(call.uuid, result, redactor))
        db.execute(
            "UPDATE tool_call SET success = ?, duration_ms = ? WHERE uuid = ?",
            (call.success, call.duration_ms, call.uuid),
        )
    [after] = load(db, [row])
    db.execute("UPDATE message SET char_count = ? WHERE uuid = ?", (after.char_count, after.uuid))
    index_turn(db, row["conversation_id"], row["turn_index"], tokeniser)
    return after


def _open_turn(db: Connection, conversation: Row, message: Row) -> None:
    turn = {
        "message_id": message["uuid"],
        "conversation_id": conversation["uuid"],
        "project_id": conversation["project_id"],
        "private_to": conversation["private_to"],
        "turn_index": message["turn_index"],
        "started_ms": message["timestamp_ms"],
    }
    db.insert("turn", CleanRow(turn))


def turn_id(db: Connection, conversation_id: str, turn_index: int) -> int:
    """Return the row id of a turn. Raises TurnNotFound."""
    found = db.value(
        "SELECT id FROM turn WHERE conversation_id = ? AND turn_index = ?",
        (conversation_id, turn_index),
    )
    if found is None:
        raise TurnNotFound(f"{turn_index} of conversation {conversation_id}")
    return int(found)


def index_turn(db: Connection, conversation_id: str, turn_index: int, tokeniser: Tokeniser) -> None:
    """Index the words of a turn as it is now."""
    rows = db.rows(
        f"""SELECT {_SEARCHED} FROM message
            WHERE conversation_id = ? AND turn_index = ? ORDER BY position""",
        (conversation_id, turn_index),
    )
    for turn in group_into_turns(load(db, list(rows))):
        index_words(db, conversation_id, turn, tokeniser)


def index_words(db: Connection, conversation_id: str, turn: Turn, tokeniser: Tokeniser) -> None:
    """Index the words of a turn that is given as a whole."""
    rowid = turn_id(db, conversation_id, turn.user.turn_index or 0)
    owner = db.row(
        """SELECT t.project_id, t.private_to, t.turn_index, t.started_ms, c.project_path, c.cwd
           FROM turn t JOIN conversation c ON c.uuid = t.conversation_id WHERE t.id = ?""",
        (rowid,),
    )
    assert owner is not None
    keys = f"{words.make_key('c', conversation_id)} {words.make_key('p', owner['project_id'])}"
    document = tokeniser.prose(format_turn_for_search(turn))
    found = document.split()
    often = " ".join(word for word, times in Counter(found).items() if times > 1)
    words.index(db, "turn_words", rowid, document, often, keys)
    db.execute("UPDATE turn SET length = ? WHERE id = ?", (len(found), rowid))
    root, cwd = owner.pop("project_path"), owner.pop("cwd")
    _set_passages(db, turn, list_passages(turn, conversation_id, root, cwd), owner, keys, tokeniser)


def _set_passages(
    db: Connection,
    turn: Turn,
    passages: Sequence[IndexedPassage],
    owner: Row,
    keys: str,
    tokeniser: Tokeniser,
) -> None:
    """Set the passages of a turn. Those that are as they were keep their vectors."""
    statement = "SELECT uuid, text FROM main.passage WHERE turn_id = ?"
    known = dict(db.execute(statement, (turn.uuid,)))
    new = {one.passage.uuid: one.passage.text for one in passages}
    gone = [(uuid,) for uuid, text in known.items() if new.get(uuid) != text]
    db.executemany("DELETE FROM passage WHERE uuid = ?", gone)
    for passage, text in passages:
        if known.get(passage.uuid) != passage.text:
            rowid = db.insert("passage", PASSAGE.encode(passage, STORED, **owner))
        else:
            rowid = db.value("SELECT id FROM main.passage WHERE uuid = ?", (passage.uuid,))
        table = words.PASSAGES[passage.kind]
        words.index(db, table, rowid, tokeniser.prose(text), keys)


def load(db: Connection, rows: Sequence[Row]) -> list[Message]:
    """Return the messages of rows, in the same order, with their tool calls."""
    calls = defaultdict(list)
    ids = as_json(row["uuid"] for row in rows)
    in_messages = "WHERE c.message_id IN (SELECT value FROM json_each(?))"
    for row in db.rows(f"{_CALLS} {in_messages} ORDER BY c.position", (ids,)):
        calls[row["message_id"]].append(decode_call(row))
    return [MESSAGE.decode(row, tool_calls=tuple(calls.get(row["uuid"], ()))) for row in rows]


def read_turns(db: Connection, turn_ids: Sequence[str], back: int = 0) -> dict[str, StoredTurn]:
    """Return turns by id, or those `back` turns before them."""
    rows = db.rows(
        f"""SELECT {WITHOUT_RECEIPT}, t.message_id AS turn, t.conversation_id AS owner
            FROM turn t JOIN message m
            ON m.conversation_id = t.conversation_id AND m.turn_index = t.turn_index - ?
            WHERE t.message_id IN (SELECT value FROM json_each(?))""",
        (back, as_json(turn_ids)),
    )
    # Sorted here: SQLite would carry the texts along.
    found = sorted(rows, key=itemgetter("position"))
    turns = {row["turn"]: StoredTurn(row["owner"], []) for row in found}
    for row, message in zip(found, load(db, found), strict=True):
        turns[row["turn"]].messages.append(message)
    return turns


def decode_call(row: Row) -> ToolCall:
    """Return the tool call of a joined row."""
    result = {name.removeprefix("r_"): item for name, item in row.items() if name[:2] == "r_"}
    return decode_tool_call(row, None if result["uuid"] is None else result)


def find_row(db: Connection, message_id: str) -> Row | None:
    return db.row("SELECT * FROM message WHERE uuid = ?", (message_id,))


_CALLS = """
SELECT c.*, r.uuid AS r_uuid, r.success AS r_success, r.result AS r_result, r.error AS r_error,
       r.timestamp AS r_timestamp, r.result_size_bytes AS r_result_size_bytes
FROM tool_call c LEFT JOIN tool_result r ON r.tool_call_id = c.uuid
"""
