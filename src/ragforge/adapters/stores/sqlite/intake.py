"""Intake: store the sessions of other agents, step by step, and the cursors of transcripts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragforge.adapters.stores.sqlite import conversation_rows, messages, summary_rows
from ragforge.adapters.stores.sqlite.branching import (
    find_branching,
    find_copied,
    link,
    remove_if_empty,
    share_copies,
    take_turn,
)
from ragforge.adapters.stores.sqlite.database import SqliteDatabase
from ragforge.adapters.stores.sqlite.records import find_forgotten
from ragforge.adapters.stores.sqlite.sql import Connection, as_json
from ragforge.adapters.stores.sqlite.visibility import is_hidden, is_own_row
from ragforge.domain.chat import UsageRecord
from ragforge.domain.conversations import BEFORE_FIRST_TURN, Message
from ragforge.domain.kinds import STORED, Row
from ragforge.domain.rows import encode_message, encode_tool_result, redact_steps
from ragforge.domain.schema import CURSOR, USAGE
from ragforge.domain.text import to_text
from ragforge.domain.transcripts import (
    FORGOTTEN,
    CallResult,
    IntakeStep,
    NewConversation,
    NewMessage,
    RetractedMessage,
    SessionUpdate,
    StaleView,
    StoredIds,
    TokenCount,
    TranscriptCursor,
    merge_results,
    pick_usage,
)
from ragforge.domain.turns import group_into_turns
from ragforge.ports.search_index import Tokeniser

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


@dataclass(slots=True)
class _Open:
    """A conversation that grows."""

    row: Row
    newest_turn: int
    position: int  # of the next message
    first_new: int  # turns from here on are new
    shared: Row | None = None  # the last message that an empty branch shares
    added: list[Message] = field(default_factory=list)
    grown: set[int] = field(default_factory=set)  # turns
    changed: set[int] = field(default_factory=set)  # turns with stored messages that changed


class SqliteIntake:
    """Applies steps, whose secrets were removed, to the store of one viewer."""

    def __init__(self, db: Connection, tokeniser: Tokeniser, viewer: str | None) -> None:
        self._db = db
        self._tokeniser = tokeniser
        self._viewer = viewer
        self._opened: dict[str, _Open | None] = {}
        self._taken: set[str] = set()  # ids of another author's messages
        self._left: set[str] = set()  # conversations whose newest turn moved to a branch

    def apply(self, steps: Sequence[IntakeStep]) -> None:
        """Apply all steps. Raises StaleView if one of the messages is there already."""
        self._check_new([one.message.uuid for one in steps if isinstance(one, NewMessage)])
        for step in merge_results(steps):
            if isinstance(step, NewConversation):
                self._begin(step)
            elif isinstance(step, NewMessage):
                self._add(step)
            elif isinstance(step, CallResult):
                self._finish(step)
            elif isinstance(step, RetractedMessage):
                self._retract(step)
            elif isinstance(step, TokenCount):
                self._count(step)
            elif isinstance(step, SessionUpdate):
                self._update(step)
        for one in self._opened.values():
            if one is not None:
                self._complete(one)
        self._spend(pick_usage(steps))
        for uuid in self._left:
            remove_if_empty(self._db, uuid)

    def _check_new(self, ids: Sequence[str]) -> None:
        if find_forgotten(self._db, ids, self._viewer):
            raise StaleView
        statement = """SELECT m.uuid, m.conversation_id FROM json_each(?) w
                       CROSS JOIN message m ON m.uuid = w.value"""
        found: list[Any] = self._db.execute(statement, (as_json(ids),)).fetchall()
        for uuid, conversation_id in found:
            if self._open(conversation_id) is not None:
                raise StaleView
            self._taken.add(uuid)

    def _begin(self, step: NewConversation) -> None:
        new = step.conversation
        there = "SELECT 1 FROM conversation WHERE uuid = ?"
        if self._db.value(there, (new.uuid,)) or find_forgotten(self._db, [new.uuid], self._viewer):
            return
        row = conversation_rows.encode_new(new, STORED)
        self._db.insert("conversation", row)
        if step.after is not None and (last := self._find(step.after)) is not None:
            link(self._db, last, row)
        self._opened[new.uuid] = self._read(new.uuid)

    def _add(self, step: NewMessage) -> None:
        into = self._open(step.conversation_id)
        if into is None or step.message.uuid in self._taken:
            return
        if step.message.role == "user":
            into.newest_turn += 1
        elif into.shared is not None:  # the branch continues in the middle of a turn
            taken = take_turn(self._db, into.shared, into.row)
            if taken[-1].uuid == into.shared["uuid"]:
                self._leave(into.shared)
            self._take(into, taken)
        into.shared = None
        new = encode_message(step.message, STORED)
        new = new.place(into.row, into.newest_turn, into.position)
        messages.insert_placed(self._db, into.row, new)
        into.position += 1
        self._take(into, [new.message])

    def _leave(self, last: Row) -> None:
        """Note that the turn of a message has moved to another conversation."""
        self._left.add(last["conversation_id"])
        source = self._open(last["conversation_id"])
        if source is not None:
            source.added = [m for m in source.added if m.turn_index != last["turn_index"]]
            source.grown.discard(last["turn_index"])

    def _take(self, into: _Open, added: Sequence[Message]) -> None:
        into.added += added
        into.grown.add(into.newest_turn)

    def _finish(self, step: CallResult) -> None:
        row, call, result = self._find(step.message_id), step.call, step.call.result
        if row is None or result is None:
            return
        waiting = """SELECT 1 FROM tool_call t WHERE t.uuid = ? AND t.message_id = ? AND NOT EXISTS
                     (SELECT 1 FROM tool_result r WHERE r.tool_call_id = t.uuid)"""
        if not self._db.value(waiting, (call.uuid, row["uuid"])):
            return
        self._db.insert("tool_result", encode_tool_result(call.uuid, result, STORED))
        self._db.execute(
            "UPDATE tool_call SET success = ?, duration_ms = ? WHERE uuid = ?",
            (call.success, call.duration_ms, call.uuid),
        )
        self._grow(row, len(to_text(result.result)))

    def _retract(self, step: RetractedMessage) -> None:
        row = self._find(step.message_id)
        if row is None or not (row["content"] or row["reasoning"]):
            return
        self._db.execute(
            "UPDATE message SET content = '', reasoning = NULL WHERE uuid = ?", (row["uuid"],)
        )
        self._grow(row, -len(row["content"]))

    def _count(self, step: TokenCount) -> None:
        if self._find(step.message_id) is not None:
            statement = "UPDATE message SET token_count = ? WHERE uuid = ?"
            self._db.execute(statement, (step.tokens, step.message_id))

    def _spend(self, records: Sequence[UsageRecord]) -> None:
        """Keep what requests took, unless as much of one is known, or another session has it."""
        statement = """SELECT uuid, conversation_id, output_tokens FROM usage
                       WHERE uuid IN (SELECT value FROM json_each(?))"""
        ids = as_json(record.uuid for record in records)
        known = {uuid: found for uuid, *found in self._db.execute(statement, (ids,))}
        for record in records:
            if (into := self._open(record.conversation_id)) is None:
                continue
            owner, tokens = known.get(record.uuid, (record.conversation_id, -1))
            if owner == record.conversation_id and tokens < record.output_tokens:
                row = USAGE.encode(record, STORED, private_to=into.row["private_to"])
                self._db.upsert("usage", row, ["uuid"])

    def _grow(self, row: Row, chars: int) -> None:
        """Add to the number of characters of a stored message."""
        place = row["conversation_id"]
        for table, name, uuid in (
            ("message", "char_count", row["uuid"]),
            ("conversation", "total_chars", place),
        ):
            statement = f"UPDATE {table} SET {name} = {name} + ? WHERE uuid = ?"
            self._db.execute(statement, (chars, uuid))
        if (into := self._open(place)) is not None:
            into.grown.add(row["turn_index"])
            into.changed.add(row["turn_index"])

    def _update(self, step: SessionUpdate) -> None:
        if self._open(step.conversation_id) is None:
            return
        self._db.execute(
            """UPDATE conversation SET
                 agent_version = coalesce(:version, agent_version),
                 git_branch = coalesce(:branch, git_branch),
                 title = iif(:title IS NOT NULL AND (title IS NULL OR title = :before),
                             :title, title)
               WHERE uuid = :uuid""",
            {
                "version": step.agent_version,
                "branch": step.git_branch,
                "title": step.title,
                "before": step.instead_of,
                "uuid": step.conversation_id,
            },
        )

    def _find(self, message_id: str) -> Row | None:
        """Return the row of a message, if it was not deleted and is the viewer's."""
        row = messages.find_row(self._db, message_id)
        return row if row is not None and self._open(row["conversation_id"]) else None

    def _open(self, conversation_id: str) -> _Open | None:
        """Return a conversation of the viewer; None if it was deleted or is another user's."""
        if conversation_id not in self._opened:
            self._opened[conversation_id] = self._read(conversation_id)
        return self._opened[conversation_id]

    def _read(self, conversation_id: str) -> _Open | None:
        statement = "SELECT * FROM conversation WHERE uuid = ?"
        row = self._db.row(statement, (conversation_id,))
        if row is None or is_hidden(row, self._viewer, "author_key"):
            return None
        turn = "SELECT max(turn_index) FROM turn WHERE conversation_id = ?"
        place = "SELECT max(position) FROM message WHERE conversation_id = ?"
        newest, position = (self._db.value(asked, (conversation_id,)) for asked in (turn, place))
        if position is not None:
            newest = BEFORE_FIRST_TURN if newest is None else newest
            return _Open(row, newest, position + 1, newest + 1)
        last = find_branching(self._db, conversation_id)
        if last is None:
            return _Open(row, BEFORE_FIRST_TURN, 0, BEFORE_FIRST_TURN + 1)
        newest = last["turn_index"]
        return _Open(row, newest, last["position"] + 1, newest, last)

    def _complete(self, one: _Open) -> None:
        """Count and index what was added; what was made of grown turns before is dropped."""
        uuid = one.row["uuid"]
        conversation_rows.count(self._db, uuid, one.added)
        added = {turn.user.turn_index: turn for turn in group_into_turns(one.added)}
        for turn in sorted(one.grown - {BEFORE_FIRST_TURN}):
            if turn in added and turn not in one.changed:  # all of it is here
                messages.index_words(self._db, uuid, added[turn], self._tokeniser)
            else:
                messages.index_turn(self._db, uuid, turn, self._tokeniser)
            self._db.execute(
                """UPDATE message SET link_pending = 1 WHERE uuid =
                   (SELECT message_id FROM turn WHERE conversation_id = ? AND turn_index = ?)""",
                (uuid, turn),
            )
            if turn < one.first_new:
                self._drop_derived(uuid, turn)

    def _drop_derived(self, conversation_id: str, turn: int) -> None:
        place = (conversation_id, turn)
        cover = "SELECT covered_by FROM turn WHERE conversation_id = ? AND turn_index = ?"
        if (summary := self._db.value(cover, place)) is not None:
            summary_rows.remove(self._db, summary)
        self._db.execute(
            """DELETE FROM vector WHERE kind = 'turn' AND owner =
               (SELECT id FROM turn WHERE conversation_id = ? AND turn_index = ?)""",
            place,
        )


class SqliteTranscripts:
    """Implements `TranscriptStore`."""

    def __init__(self, database: SqliteDatabase, tokeniser: Tokeniser) -> None:
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
            lambda c: c.row(statement, (self._owner, host, agent, path))
        )
        return TranscriptCursor(agent, host, path) if row is None else CURSOR.decode(row)

    async def look_up(self, messages: Collection[str], conversations: Collection[str]) -> StoredIds:
        viewer = self._database.viewer

        def work(db: Connection) -> StoredIds:
            gone = dict.fromkeys(find_forgotten(db, messages, viewer), _NOWHERE)
            said = db.execute(_PLACES, (viewer, viewer, as_json(messages)))
            found = {uuid: (place, turn) if place else _NOWHERE for uuid, place, turn in said}
            wanted = {*conversations, *(place for place, _ in found.values())}
            turns = dict.fromkeys(find_forgotten(db, wanted, viewer), BEFORE_FIRST_TURN)
            begun = db.execute(_TURNS, (viewer, viewer, as_json(wanted)))
            return StoredIds(gone | found, turns | dict(begun))

        return await self._database.read(work)

    async def take_in(self, cursor: TranscriptCursor, steps: Sequence[IntakeStep]) -> bool:
        redactor = self._database.redactor
        # Before the transaction, so that other processes can write meanwhile.
        clean = await asyncio.to_thread(redact_steps, steps, redactor)
        row = CURSOR.encode(cursor, redactor, owner=self._owner)

        def work(db: Connection) -> None:
            db.execute(_INSERT if cursor.revision == 0 else _UPDATE, row)
            if not db.changes():
                raise StaleView
            SqliteIntake(db, self._tokeniser, self._database.viewer).apply(clean)

        try:
            await self._database.write(work)
        except StaleView:  # raised, so that nothing of it stays
            return False
        return True

    async def share_copies(self) -> int:
        own = is_own_row(self._database.viewer, "c")
        if not await self._database.read(lambda c: find_copied(c, own)):
            return 0

        def work(db: Connection) -> int:
            found = find_copied(db, own)
            for one in found:
                share_copies(db, one, self._tokeniser)
            return len(found)

        return await self._database.write(work)


_INSERT = """
INSERT INTO transcript (owner, host, agent, path, stamp, revision, state)
VALUES (:owner, :host, :agent, :path, :stamp, 1, :state) ON CONFLICT DO NOTHING"""
_UPDATE = """
UPDATE transcript SET stamp = :stamp, state = :state, revision = revision + 1
WHERE owner = :owner AND host = :host AND agent = :agent AND path = :path
  AND revision = :revision"""
