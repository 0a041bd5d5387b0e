"""Branching: a copy of a conversation up to a message, or a share in it.

A branch of another agent's session holds what was said since it branched off. The turns before
that stay in its origin, and are counted and found there. The branch continues their numbers:
the first turn that it holds tells how many it shares. A branch that is a copy shares none.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragforge.adapters.stores.sqlite import conversation_rows, messages, summary_rows
from ragforge.adapters.stores.sqlite.sql import Connection, SqlFilter
from ragforge.domain.conversations import (
    AGENT,
    BEFORE_FIRST_TURN,
    CopiedTurns,
    Message,
    copy_messages,
    copy_turn,
    name_copies,
)
from ragforge.domain.kinds import STORED, CleanRow, Row
from ragforge.domain.rows import encode_message
from ragforge.domain.schema import CONVERSATION
from ragforge.ports.search_index import Tokeniser

_PARTS = """
WITH RECURSIVE part (id, until, first) AS (
  SELECT :id, NULL, (SELECT min(turn_index) FROM message WHERE conversation_id = :id)
  UNION
  SELECT b.source, min(part.first, coalesce(part.until, part.first)),
    (SELECT min(turn_index) FROM message WHERE conversation_id = b.source)
  FROM part JOIN branch b ON b.target = part.id WHERE part.first > 0)
SELECT id, until FROM part"""


def find_parts(db: Connection, conversation_id: str) -> list[tuple[str, int | None]]:
    """Return the conversations that one has turns of, and before which turn its share ends.

    The first is the conversation itself: it has all of its turns.
    """
    return list(db.execute(_PARTS, {"id": conversation_id}))


def add_parts(where: SqlFilter, alias: str, parts: Sequence[tuple[str, int | None]]) -> SqlFilter:
    """Add: a message or turn is in one of these parts."""
    own, until = f"{alias}.conversation_id = ?", f"{alias}.turn_index < ?"
    shared = [f"({own} AND {until})" for _ in parts[1:]]
    bindings = [value for part in parts for value in part if value is not None]
    return where.add(f"({' OR '.join([own, *shared])})", *bindings)


def link(db: Connection, last: Row, branch: Row) -> None:
    """Note that a conversation branches off after a message."""
    names = {"source": last["conversation_id"], "target": branch["uuid"]}
    db.insert("branch", CleanRow({**names, "message_id": last["uuid"]}))


def find_branching(db: Connection, conversation_id: str) -> Row | None:
    """Return the message after which a conversation branches off."""
    statement = """SELECT m.* FROM branch b JOIN message m ON m.uuid = b.message_id
                   WHERE b.target = ?"""
    return db.row(statement, (conversation_id,))


def copy_until(db: Connection, last: Row, branch: Row, tokeniser: Tokeniser) -> None:
    """Copy the messages up to and including one into an empty conversation."""
    link(db, last, branch)
    parts = find_parts(db, last["conversation_id"])
    where = add_parts(SqlFilter(), "m", parts).add("m.position <= ?", last["position"])
    originals = _load(db, where)
    copies = copy_messages(originals)
    new = [encode_message(copy, STORED) for copy in copies]
    messages.add(db, branch, new, tokeniser)
    _copy_facts(db, originals, copies, last["position"])


def take_turn(db: Connection, last: Row, branch: Row) -> list[Message]:
    """Copy the turn that a branch continues, up to a message, into it; return its messages.

    If nothing follows the message, the turn moves to the branch. If its origin answers otherwise,
    the branch gets copies: these are two turns.
    """
    source, turn = last["conversation_id"], last["turn_index"]
    where = SqlFilter().add("m.conversation_id = ?", source).add("m.turn_index = ?", turn)
    taken = _load(db, where.add("m.position <= ?", last["position"]))
    if not _is_answered_after(db, last):
        _remove_turns(db, source, turn, turn)
    else:
        taken = copy_turn(taken, branch["uuid"])
    for one in taken:
        place = (turn, one.position or 0)
        messages.insert_placed(db, branch, encode_message(one, STORED).place(branch, *place))
    return taken


def find_copied(db: Connection, own: str) -> list[CopiedTurns]:
    """Return the imported branches that begin with copies, of `own` conversations `c`.

    Copies have the places of what they are copies of; where they do not, the origin has changed,
    and they are all that is left of it.
    """
    branches = db.rows(
        f"""SELECT m.*, b.target FROM branch b
            JOIN message m ON m.uuid = b.message_id JOIN conversation c ON c.uuid = b.target
            WHERE c.agent <> ? AND {own}""",
        (AGENT,),
    )
    found = (_look_at_copies(db, last, last["target"]) for last in branches)
    return [one for one in found if one is not None]


def _look_at_copies(db: Connection, last: Row, branch: str) -> CopiedTurns | None:
    copy = messages.find_row(db, name_copies(branch)(last["uuid"]))
    if copy is None or any(copy[name] != last[name] for name in ("turn_index", "position")):
        return None
    turn, after = copy["turn_index"], (branch, copy["position"])
    other = """SELECT turn_index FROM message WHERE conversation_id = ? AND position > ?
               ORDER BY position LIMIT 1"""
    first = "SELECT min(turn_index) FROM message WHERE conversation_id = ?"
    kept = db.value(other, after)
    kept = turn + 1 if kept is None else kept
    goes_on = kept == turn and not _is_answered_after(db, last)
    if not goes_on and kept <= db.value(first, (branch,)):
        return None
    return CopiedTurns(branch, kept, last["uuid"] if goes_on else None)


def _is_answered_after(db: Connection, last: Row) -> bool:
    """Tell whether the turn of a message continues after it."""
    statement = """SELECT 1 FROM message
                   WHERE conversation_id = ? AND turn_index = ? AND position > ?"""
    place = (last["conversation_id"], last["turn_index"], last["position"])
    return db.value(statement, place) is not None


def share_copies(db: Connection, copied: CopiedTurns, tokeniser: Tokeniser) -> None:
    """Remove the copies with which a branch begins; it shares the originals from then on."""
    branch, turn = copied.branch, copied.first_other
    _remove_turns(db, branch, BEFORE_FIRST_TURN, turn - 1)
    last = None if copied.goes_on is None else messages.find_row(db, copied.goes_on)
    if last is None:
        return
    db.execute(
        "DELETE FROM message WHERE conversation_id = ? AND turn_index = ? AND position <= ?",
        (branch, turn, last["position"]),
    )
    taken = take_turn(db, last, db.read_item(CONVERSATION, branch))
    messages.index_turn(db, branch, turn, tokeniser)
    db.execute("UPDATE message SET link_pending = 1 WHERE uuid = ?", (taken[0].uuid,))
    conversation_rows.recount(db, branch)
    remove_if_empty(db, last["conversation_id"])


def remove_if_empty(db: Connection, conversation_id: str) -> None:
    """Remove a conversation whose only turn has moved to a branch."""
    conversation_rows.recount(db, conversation_id)
    empty = "DELETE FROM conversation WHERE uuid = ? AND message_count = 0"
    db.execute(empty, (conversation_id,))


def _remove_turns(db: Connection, conversation_id: str, first: int, last: int) -> None:
    place = (conversation_id, first, last)
    within = "WHERE conversation_id = ? AND turn_index BETWEEN ? AND ?"
    covers = f"SELECT DISTINCT covered_by FROM turn {within} AND covered_by IS NOT NULL"
    for summary in db.column(covers, place):
        summary_rows.remove(db, summary)
    db.execute(f"DELETE FROM message {within}", place)
    conversation_rows.recount(db, conversation_id)


def _load(db: Connection, where: SqlFilter) -> list[Message]:
    statement = f"SELECT m.* FROM message m WHERE {where} ORDER BY m.position"
    return messages.load(db, list(db.rows(statement, where.bindings)))


def _copy_facts(
    db: Connection, originals: Sequence[Message], copies: Sequence[Message], last: int
) -> None:
    """Copy references to code and vectors, and whether links are still to be made."""
    for original, copy in zip(originals, copies, strict=True):
        _copy_references(db, original.uuid, copy.uuid)
        db.execute(
            """UPDATE message SET link_pending = (SELECT link_pending FROM message WHERE uuid = ?)
               WHERE uuid = ?""",
            (original.uuid, copy.uuid),
        )
        if original.role == "user":
            _copy_vector(db, original.uuid, copy.uuid, last)


def _copy_references(db: Connection, original: str, copy: str) -> None:
    db.execute(
        """INSERT INTO reference (owner_id, scope_id, file, qualified_name, hash, how)
           SELECT ?, scope_id, file, qualified_name, hash, how
           FROM reference WHERE owner_id = ?""",
        (copy, original),
    )


def _copy_vector(db: Connection, original: str, copy: str, last: int) -> None:
    """Copy a turn's vector, unless the branch cuts the turn: the vector knows what followed."""
    db.execute(
        """INSERT INTO vector (kind, owner, model, data)
           SELECT 'turn', (SELECT id FROM turn WHERE message_id = ?), v.model, v.data
           FROM vector v JOIN turn t ON v.kind = 'turn' AND v.owner = t.id
           WHERE t.message_id = ? AND NOT EXISTS (
             SELECT 1 FROM message m WHERE m.conversation_id = t.conversation_id
             AND m.turn_index = t.turn_index AND m.position > ?)""",
        (copy, original, last),
    )
