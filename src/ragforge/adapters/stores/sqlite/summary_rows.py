"""Summary rows: what they cover, and how they go."""

from __future__ import annotations

from collections.abc import Sequence

from ragforge.adapters.stores.sqlite.sql import Connection, as_json
from ragforge.domain.schema import SUMMARY
from ragforge.domain.summaries import Summary
from ragforge.errors import TurnNotFound


def read_outermost(db: Connection, conversation_id: str, limit: int) -> list[Summary]:
    """Return the newest summaries that no other covers, the oldest range first."""
    statement = """SELECT * FROM summary WHERE id IN (
                     SELECT id FROM summary WHERE conversation_id = ? AND covered_by IS NULL
                     ORDER BY start_turn_index DESC, level DESC, uuid DESC LIMIT ?)
                   ORDER BY start_turn_index, level, uuid"""
    rows = db.rows(statement, (conversation_id, limit))
    return [SUMMARY.decode(row) for row in rows]


def read_stretches(db: Connection, conversation_id: str, limit: int) -> list[int]:
    """Return where the last summaries begin that the newest long-term one covers, in order."""
    statement = """SELECT start_turn_index FROM summary WHERE covered_by = (
                     SELECT uuid FROM summary WHERE conversation_id = ? AND level = 2
                     ORDER BY start_turn_index DESC, uuid DESC LIMIT 1)
                   AND conversation_id = ? ORDER BY start_turn_index DESC LIMIT ?"""
    given = (conversation_id, conversation_id, limit)
    return db.column(statement, given)[::-1]


def remove(db: Connection, summary_id: str) -> int:
    """Delete a summary and what is built on it; return how many went.

    Turns of theirs whose own summary was trimmed are eligible again as well.
    """
    cover = db.value("SELECT covered_by FROM summary WHERE uuid = ?", (summary_id,))
    gone = 0
    for uuid in filter(None, (cover, summary_id)):
        db.execute(
            """UPDATE message SET summary_trimmed = 0 FROM summary s WHERE s.uuid = ?
               AND message.conversation_id = s.conversation_id
               AND message.turn_index BETWEEN s.start_turn_index AND s.end_turn_index""",
            (uuid,),
        )
        db.execute("DELETE FROM summary WHERE uuid = ?", (uuid,))
        gone += db.changes()
    return gone


def trim(db: Connection, uuids: Sequence[str]) -> int:
    """Delete summaries, noting on what they covered that this was done."""
    given = {"gone": as_json(uuids)}
    gone = "(SELECT value FROM json_each(:gone))"
    for statement in (
        f"""UPDATE message SET summary_trimmed = 1 WHERE uuid IN (
              SELECT message_id FROM turn WHERE covered_by IN {gone})""",
        f"UPDATE summary SET summary_trimmed = 1 WHERE covered_by IN {gone}",
        f"""UPDATE summary SET parent_summaries = (
              SELECT json_group_array(value) FROM json_each(parent_summaries)
              WHERE value NOT IN {gone})
            WHERE uuid IN (SELECT covered_by FROM summary WHERE uuid IN {gone})""",
        f"DELETE FROM summary WHERE uuid IN {gone}",
    ):
        db.execute(statement, given)
    return len(uuids)


def read_covered(db: Connection, summary_id: str) -> list[int]:
    statement = "SELECT turn_index FROM turn WHERE covered_by = ? ORDER BY turn_index"
    return db.column(statement, (summary_id,))


def cover_parents(db: Connection, summary: Summary) -> None:
    """Note that an L2 covers the L1 summaries it was made from."""
    db.execute(
        "UPDATE summary SET covered_by = ? WHERE uuid IN (SELECT value FROM json_each(?))",
        (summary.uuid, as_json(summary.parent_summaries)),
    )


def cover(db: Connection, summary: Summary) -> None:
    """Note what the summary covers, forgetting what an older version of it covered."""
    for table in ("turn", "summary"):
        release = f"UPDATE {table} SET covered_by = NULL WHERE covered_by = ?"
        db.execute(release, (summary.uuid,))
    if summary.level == 1:
        db.execute(
            """UPDATE turn SET covered_by = ? WHERE conversation_id = ? AND covered_by IS NULL
               AND turn_index BETWEEN ? AND ? AND NOT EXISTS (
                 SELECT 1 FROM message m WHERE m.uuid = turn.message_id AND m.summary_trimmed)""",
            (
                summary.uuid,
                summary.conversation_id,
                summary.start_turn_index,
                summary.end_turn_index,
            ),
        )
        return
    for parent in summary.parent_summaries:
        db.read_item(SUMMARY, parent)
    cover_parents(db, summary)


def check_turns(db: Connection, summary_id: str, turn_ids: Sequence[str]) -> None:
    free = db.column(
        """SELECT message_id FROM turn WHERE message_id IN (SELECT value FROM json_each(?))
           AND coalesce(covered_by, ?) = ?""",
        (as_json(turn_ids), summary_id, summary_id),
    )
    for lost in set(turn_ids).difference(free):
        raise TurnNotFound(lost)
