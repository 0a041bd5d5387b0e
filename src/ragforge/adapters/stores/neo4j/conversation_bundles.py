"""Whole conversations in Neo4j: reading one, adding one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from ragforge.adapters.stores.neo4j import (
    branching,
    conversation_nodes,
    facts,
    messages,
    note_nodes,
    summary_nodes,
    vectors,
)
from ragforge.adapters.stores.neo4j.cypher import LOCK, get_label, is_seen, select_fields
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.adapters.stores.neo4j.records import put_rows
from ragforge.adapters.stores.neo4j.vectors import Shelf, get_shelf
from ragforge.domain.code import CodeReference
from ragforge.domain.conversation_bundle import BranchPoint, ConversationBundle, SummaryBundle
from ragforge.domain.kinds import Kind, Redactor, Row
from ragforge.domain.rows import encode_mentions, encode_message
from ragforge.domain.schema import (
    CONVERSATION,
    FILE_MENTION,
    KINDS,
    NOTE,
    REFERENCE,
    SUMMARY,
    list_parts,
)
from ragforge.domain.turns import group_into_turns
from ragforge.domain.vectors import Vector
from ragforge.errors import ConversationNotFound, DuplicateId
from ragforge.ports.words import Tokeniser


def _select_flagged(flag: str) -> str:
    return f"""MATCH (n:Message|Summary) WHERE n.conversation_id = $id AND n.{flag}
        RETURN n.uuid"""


def _select_branch_points(arrow: str) -> str:
    return f"""MATCH (:Conversation {{uuid: $id}}){arrow}(n:Conversation)
        WHERE {is_seen("n")} WITH n, e ORDER BY n.uuid RETURN [n.uuid, e.message_id]"""


def _select_vectors(shelf: Shelf, condition: str) -> str:
    return f"""MATCH (n:{shelf.label}) WHERE {condition} AND n.{shelf.name} IS NOT NULL
        AND {is_seen("n")} RETURN [n.uuid, n.{shelf.model}, n.{shelf.name}]"""


_INSIDE = "n.conversation_id = $id"
_PARTS = {
    "messages": f"""MATCH (m:Message {{conversation_id: $id}})
        WITH m ORDER BY m.position RETURN {messages.WITH_CALLS}""",
    "references": f"""MATCH (m:Message {{conversation_id: $id}})
        MATCH (f:CodeReference {{owner_id: m.uuid}})
        WITH m, f ORDER BY m.position, f.file, f.qualified_name, f.scope_id
        RETURN {select_fields("f", REFERENCE)}""",
    "summaries": f"""MATCH (n:Summary {{conversation_id: $id}})
        WITH n ORDER BY n.level, n.start_turn_index, n.uuid
        RETURN {{row: {summary_nodes.ROW},
          covers: COLLECT {{ MATCH (n)-[:SUMMARIZES]->(m:Message {{role: 'user'}})
                             RETURN m.turn_index }},
          mentions: COLLECT {{ MATCH (f:CodeMention {{owner_id: n.uuid}})
                               WITH f ORDER BY f.path, f.qualified_name, f.target_id
                               RETURN {facts.MENTION} }}}}""",
    "origins": _select_branch_points("<-[e:HAS_BRANCH]-"),
    "branches": _select_branch_points("-[e:HAS_BRANCH]->"),
    "notes": note_nodes.OF_CONVERSATION,
    "trimmed": _select_flagged("summary_trimmed"),
    "link_pending": _select_flagged("link_pending"),
    "models": f"""MATCH (n:{vectors.TURNS.label}) WHERE {_INSIDE}
        AND n.{vectors.TURNS.name} IS NOT NULL RETURN [n.uuid, n.{vectors.TURNS.model}]""",
}
"""All that a conversation has beside its row and vectors, each a query of one value a row."""
_VECTORS = {
    "vector": _select_vectors(vectors.CONVERSATIONS, "n.uuid = $id"),
    "turn_vectors": _select_vectors(vectors.TURNS, _INSIDE),
    "summary_vectors": _select_vectors(get_shelf(SUMMARY), _INSIDE),
    "note_vectors": _select_vectors(get_shelf(NOTE), _INSIDE),
}


def _select_items(kind: Kind[Any, Any]) -> str:
    return f"""MATCH (n:{get_label(kind)} {{conversation_id: $id}})
        WITH n ORDER BY n.uuid RETURN {select_fields("n", kind)}"""


async def read(
    tx: Transaction, conversation_id: str, with_vectors: bool = True
) -> ConversationBundle:
    """Return everything that is known of a conversation. Raises ConversationNotFound."""
    parts = _PARTS | (_VECTORS if with_vectors else {})
    parts |= {f"_{kind.name}": _select_items(kind) for kind in list_parts()}
    found = ", ".join(f"COLLECT {{ {query} }} AS {name}" for name, query in parts.items())
    # The lock keeps it as it is until all of it is read.
    row = await tx.row(
        f"""MATCH (n:Conversation {{uuid: $id}}) WHERE {is_seen("n")} {LOCK}
            WITH {conversation_nodes.ROW} AS conversation RETURN conversation, {found}""",
        id=conversation_id,
    )
    if row is None:
        raise ConversationNotFound(conversation_id)
    return ConversationBundle(
        conversation=CONVERSATION.decode(row["conversation"]),
        messages=tuple(map(messages.decode_message, row["messages"])),
        references=_group_references(row["references"]),
        summaries=tuple(map(_decode_summary, row["summaries"])),
        branch_of=next((BranchPoint(*point) for point in row["origins"]), None),
        branches=tuple(BranchPoint(*point) for point in row["branches"]),
        vector=_decode_vectors(row.get("vector")).get(conversation_id),
        turn_vectors=_decode_vectors(row.get("turn_vectors")),
        summary_vectors=_decode_vectors(row.get("summary_vectors")),
        notes=tuple(map(NOTE.decode, row["notes"])),
        parts={kind.name: tuple(map(kind.decode, row[f"_{kind.name}"])) for kind in list_parts()},
        note_vectors=_decode_vectors(row.get("note_vectors")),
        trimmed=frozenset(row["trimmed"]),
        link_pending=frozenset(row["link_pending"]),
        embedded_by=dict(row["models"]),
    )


async def add(
    tx: Transaction, whole: ConversationBundle, redactor: Redactor, tokeniser: Tokeniser
) -> None:
    """Store a new conversation with all that belongs to it. Raises DuplicateId."""
    row = await conversation_nodes.create(tx, CONVERSATION.encode(whole.conversation, redactor))
    said = [encode_message(message, redactor) for message in whole.messages]
    placed = [
        one.place(row, one.message.turn_index or 0, one.message.position or 0) for one in said
    ]
    words = messages.make_words(group_into_turns([one.message for one in placed]), tokeniser)
    await messages.insert_placed(tx, placed, words)
    await conversation_nodes.recount(tx, row["uuid"])
    await facts.put_references(
        tx,
        [
            row
            for message_id, references in whole.references.items()
            for row in REFERENCE.encode_all(references, redactor, owner_id=message_id)
        ],
    )
    await _check_free(tx, whole.summaries)
    for summary in whole.summaries:
        await _add_summary(tx, summary, row, redactor, tokeniser)
    known = await note_nodes.find_known(tx, [note.uuid for note in whole.notes])
    new = [NOTE.encode(note, redactor) for note in whole.notes if note.uuid not in known]
    await note_nodes.put(tx, new, tokeniser)
    new_vectors = {owner: v for owner, v in whole.note_vectors.items() if owner not in known}
    await vectors.put(tx, get_shelf(NOTE), new_vectors)
    for name, items in whole.parts.items():
        private = {"private_to": row["private_to"]} if "private_to" in KINDS[name] else {}
        new = KINDS[name].encode_all(items, redactor, **private)
        await put_rows(tx, KINDS[name], new, tokeniser)
    for flag, ids in (("summary_trimmed", whole.trimmed), ("link_pending", whole.link_pending)):
        await tx.rows(
            f"MATCH (n:Message|Summary) WHERE n.uuid IN $ids SET n.{flag} = true", ids=list(ids)
        )
    await vectors.put(tx, vectors.TURNS, whole.turn_vectors)
    await vectors.put(tx, get_shelf(SUMMARY), whole.summary_vectors)
    if whole.vector is not None:
        await vectors.put(tx, vectors.CONVERSATIONS, {row["uuid"]: whole.vector})
    await _link(tx, whole)


def _group_references(rows: Sequence[Row]) -> dict[str, tuple[CodeReference, ...]]:
    found = defaultdict(list)
    for row in rows:
        found[row["owner_id"]].append(REFERENCE.decode(row))
    return {owner: tuple(references) for owner, references in found.items()}


def _decode_summary(row: Row) -> SummaryBundle:
    return SummaryBundle(
        SUMMARY.decode(row["row"]),
        tuple(sorted(row["covers"])),
        tuple(FILE_MENTION.decode(one) for one in row["mentions"] if one["kind"] == "file"),
        tuple(REFERENCE.decode(one) for one in row["mentions"] if one["kind"] == "scope"),
    )


def _decode_vectors(rows: Sequence[tuple[str, str, list[float]]] | None) -> dict[str, Vector]:
    return {owner: Vector.of(model, numbers) for owner, model, numbers in rows or ()}


async def _check_free(tx: Transaction, summaries: Sequence[SummaryBundle]) -> None:
    ids = [known.summary.uuid for known in summaries]
    query = "MATCH (n:Summary) WHERE n.uuid IN $ids RETURN n.uuid LIMIT 1"
    if (taken := await tx.value(query, ids=ids)) is not None:
        raise DuplicateId("summary", taken)


async def _add_summary(
    tx: Transaction,
    whole: SummaryBundle,
    conversation: Row,
    redactor: Redactor,
    tokeniser: Tokeniser,
) -> None:
    row = SUMMARY.encode(whole.summary, redactor, private_to=conversation["private_to"])
    await summary_nodes.put(tx, row, conversation["project_id"], tokeniser)
    await summary_nodes.cover_turns(tx, row, whole.covers)
    if whole.summary.level == 2:
        await summary_nodes.cover_parents(tx, row)
    mentions = encode_mentions(row["uuid"], whole.files, whole.scopes, redactor)
    await facts.put_mentions(tx, mentions)


async def _link(tx: Transaction, whole: ConversationBundle) -> None:
    """Link the conversation to those it shares a branch with, as far as they are there."""
    here = whole.conversation.uuid
    if (origin := whole.branch_of) is not None:
        await branching.link(tx, origin.conversation_id, here, origin.message_id)
    for point in whole.branches:
        await branching.link(tx, here, point.conversation_id, point.message_id)
