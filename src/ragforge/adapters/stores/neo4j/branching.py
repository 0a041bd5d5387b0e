"""Branching: a copy of a conversation up to a message, or a share in it.

A branch of another agent's session holds what was said since it branched off. The turns before
that stay in its origin, and are counted and found there. The branch continues their numbers:
the first turn that it holds tells how many it shares. A branch that is a copy shares none.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ragforge.adapters.stores.neo4j import conversation_nodes, links, messages, summary_nodes
from ragforge.adapters.stores.neo4j.cypher import is_own_node, is_seen, select_fields
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.domain.authors import AGENT
from ragforge.domain.branches import CopiedTurns, copy_messages, copy_turn, name_copies
from ragforge.domain.conversations import BEFORE_FIRST_TURN, Message
from ragforge.domain.kinds import STORED, CleanRow, Row, Stored
from ragforge.domain.rows import encode_message
from ragforge.domain.schema import CONVERSATION, MESSAGE, REFERENCE
from ragforge.ports.words import Tokeniser

# The index on both answers at once, if bound and order match it.
_FIRST = """MATCH (f:Message) WHERE f.conversation_id = later.uuid AND f.turn_index >= -1
            RETURN f.turn_index AS first ORDER BY f.conversation_id, f.turn_index LIMIT 1"""
PARTS = f"""MATCH path = (part:Conversation)-[:HAS_BRANCH*1..]->(talk)
            CALL (path) {{
              UNWIND nodes(path)[1..] AS later CALL (later) {{ {_FIRST} }}
              RETURN min(first) AS until }}
            WITH part, until WHERE until > 0"""
"""The conversations `part` that `talk` has turns of, and before which turn its share ends."""
SHARED = f"""{PARTS}
             MATCH (m:Message) WHERE m.conversation_id = part.uuid AND m.turn_index < until
               AND {is_seen("m")}"""
"""The messages `m` that a conversation `talk` shares with those it branched off from."""


async def find_parts(tx: Transaction, conversation_id: str) -> list[list[str | int]]:
    """Return what `PARTS` finds, as pairs."""
    query = f"""MATCH (talk:Conversation {{uuid: $id}})
                {PARTS} RETURN [part.uuid, until]"""
    return await tx.column(query, id=conversation_id)


async def copy_until(
    tx: Transaction, last: Stored, branch: Stored, tokeniser: Tokeniser
) -> list[Message]:
    """Copy the messages up to and including one into an empty conversation."""
    source = last["conversation_id"]
    await link(tx, source, branch["uuid"], last["uuid"])
    own = "MATCH (m:Message {conversation_id: $source})"
    rows = await tx.column(
        f"""MATCH (talk:Conversation {{uuid: $source}})
            CALL (talk) {{ {SHARED} RETURN m UNION ALL {own} RETURN m }}
            WITH m WHERE m.position <= $last
            WITH m ORDER BY m.position RETURN {messages.WITH_CALLS}""",
        source=source,
        last=last["position"],
    )
    originals = [messages.decode_message(row) for row in rows]
    copies = copy_messages(originals)
    new = [encode_message(copy, STORED) for copy in copies]
    placed = await messages.add(tx, branch, new, tokeniser)
    await _copy_facts(tx, originals, copies, last["position"])
    return placed


async def take_turn(tx: Transaction, last: Stored, branch: Stored) -> list[Message]:
    """Copy the turn that a branch continues, up to a message, into it; return its messages.

    If nothing follows the message, the turn moves to the branch. If its origin answers otherwise,
    the branch gets copies: these are two turns.
    """
    source, turn = last["conversation_id"], last["turn_index"]
    rows = await tx.column(
        f"""MATCH (m:Message {{conversation_id: $source, turn_index: $turn}})
            WITH m ORDER BY m.position RETURN {messages.WITH_CALLS}""",
        source=source,
        turn=turn,
    )
    originals = [messages.decode_message(row) for row in rows]
    taken = [one for one in originals if one.position <= last["position"]]
    if taken == originals:
        await _remove_turns(tx, source, turn, turn)
    else:
        taken = copy_turn(taken, branch["uuid"])
    moved = [encode_message(one, STORED).place(branch, turn, one.position or 0) for one in taken]
    await messages.insert_placed(tx, moved)
    return taken


async def find_branching(tx: Transaction, conversation_id: str) -> Row | None:
    """Return the message after which an empty conversation branches off."""
    row: Row | None = await tx.value(
        f"""MATCH (n:Conversation {{uuid: $id}})<-[e:HAS_BRANCH]-(:Conversation)
            WHERE NOT EXISTS {{ (n)-[:HAS_MESSAGE]->() }}
            MATCH (m:Message {{uuid: e.message_id}})
            RETURN {select_fields("m", MESSAGE)} AS row""",
        id=conversation_id,
    )
    return row


async def find_copied(tx: Transaction) -> list[CopiedTurns]:
    """Return the imported branches that begin with copies, of the viewer's conversations.

    Copies have the places of what they are copies of; where they do not, the origin has changed,
    and they are all that is left of it.
    """
    rows = await tx.rows(
        f"""MATCH (:Conversation)-[e:HAS_BRANCH]->(c:Conversation)
            WHERE c.agent <> $agent AND {is_own_node("c")}
            MATCH (m:Message {{uuid: e.message_id}})
            RETURN c.uuid AS branch, m.uuid AS last""",
        agent=AGENT,
    )
    found = await tx.each(
        """MATCH (last:Message {uuid: row.last}) MATCH (c:Message {uuid: row.copy})
           WHERE c.conversation_id = row.branch AND c.turn_index = last.turn_index
             AND c.position = last.position
           OPTIONAL MATCH (o:Message {conversation_id: row.branch}) WHERE o.position > c.position
           WITH row, last, o ORDER BY o.position
           WITH row, last, coalesce(head(collect(o.turn_index)), last.turn_index + 1) AS kept
           WITH row, kept, kept = last.turn_index AND NOT EXISTS {
             MATCH (l:Message {
               conversation_id: last.conversation_id, turn_index: last.turn_index})
             WHERE l.position > last.position } AS goes_on
           WHERE goes_on OR EXISTS {
             MATCH (f:Message {conversation_id: row.branch}) WHERE f.turn_index < kept }
           RETURN row.branch AS branch, kept, CASE WHEN goes_on THEN row.last END AS goes_on""",
        [{**row, "copy": name_copies(row["branch"])(row["last"])} for row in rows],
    )
    return [CopiedTurns(row["branch"], row["kept"], row["goes_on"]) for row in found]


async def share_copies(tx: Transaction, copied: CopiedTurns, tokeniser: Tokeniser) -> None:
    """Remove the copies with which a branch begins; it shares the originals from then on."""
    branch, turn = copied.branch, copied.first_other
    await _remove_turns(tx, branch, BEFORE_FIRST_TURN, turn - 1)
    if copied.goes_on is None:
        return
    last = await tx.read_item(MESSAGE, copied.goes_on)
    await messages.delete_messages(tx, branch, turn, turn, last["position"])
    taken = await take_turn(tx, last, await tx.read_item(CONVERSATION, branch, lock=True))
    await messages.index_turns(tx, [(branch, turn)], tokeniser)
    head = "MATCH (m:Message {uuid: $id}) SET m.link_pending = true"
    await tx.rows(head, id=taken[0].uuid)
    await conversation_nodes.recount(tx, branch)
    await remove_if_empty(tx, [last["conversation_id"]])


async def remove_if_empty(tx: Transaction, ids: Collection[str]) -> None:
    """Remove conversations whose only turn has moved to a branch."""
    empty = "MATCH (n:Conversation) WHERE n.uuid IN $ids AND n.message_count = 0"
    delete = f"{empty} WITH n, n.uuid AS id DETACH DELETE n RETURN id"
    for uuid in await tx.column(delete, ids=list(ids)):
        await conversation_nodes.delete_parts(tx, uuid)


async def _remove_turns(tx: Transaction, conversation_id: str, first: int, last: int) -> None:
    covers = await tx.column(
        """MATCH (s:Summary {level: 1})-[:SUMMARIZES]->(m:Message {conversation_id: $id})
           WHERE $first <= m.turn_index <= $last RETURN DISTINCT s.uuid""",
        id=conversation_id,
        first=first,
        last=last,
    )
    if covers:
        await summary_nodes.remove(tx, covers)
    await messages.delete_messages(tx, conversation_id, first, last)
    await conversation_nodes.recount(tx, conversation_id)


async def link(tx: Transaction, source: str, target: str, message_id: str) -> None:
    """Note that one conversation is a branch of another."""
    await tx.rows(
        """MATCH (a:Conversation {uuid: $source}) MATCH (b:Conversation {uuid: $target})
           MERGE (a)-[e:HAS_BRANCH]->(b) SET e.message_id = $message_id""",
        source=source,
        target=target,
        message_id=message_id,
    )


async def _copy_facts(
    tx: Transaction, originals: Sequence[Message], copies: Sequence[Message], last: int
) -> None:
    """Copy references to code and vectors, and whether links are still to be made."""
    pairs = [[old.uuid, new.uuid] for old, new in zip(originals, copies, strict=True)]
    await _copy_vectors(tx, pairs, last)
    await _copy_references(tx, pairs)
    await tx.each(
        """MATCH (old:Message {uuid: row[0]}) WHERE old.link_pending
           MATCH (new:Message {uuid: row[1]}) SET new.link_pending = true""",
        pairs,
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
    copies = [CleanRow(row["fact"] | {"owner_id": row["owner"]}) for row in rows]
    await links.put_references(tx, copies)
