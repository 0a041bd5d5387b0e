"""Whole conversations in Neo4j: reading one, adding one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ragforge.adapters.stores.neo4j import (
    branching,
    conversation_nodes,
    facts,
    messages,
    note_nodes,
    summary_nodes,
    vectors,
)
from ragforge.adapters.stores.neo4j.cypher import select_fields
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.adapters.stores.neo4j.vectors import Shelf
from ragforge.adapters.stores.rows import CONVERSATION, FILE_MENTION, NOTE, REFERENCE, SUMMARY
from ragforge.adapters.stores.table import Row
from ragforge.domain.code import CodeReference
from ragforge.domain.conversation_bundle import BranchPoint, ConversationBundle, SummaryBundle
from ragforge.domain.turns import group_into_turns
from ragforge.domain.vectors import Vector
from ragforge.errors import DuplicateId
from ragforge.ports.words import Tokeniser


async def read(tx: Transaction, conversation_id: str) -> ConversationBundle:
    """Return everything that is known of a conversation. Raises ConversationNotFound."""
    # The lock keeps it as it is until all of it is read.
    row = await conversation_nodes.lock(tx, conversation_id)
    said = await tx.rows(
        f"""MATCH (m:Message {{conversation_id: $id}})
            WITH m ORDER BY m.position RETURN {messages.WITH_CALLS}""",
        id=conversation_id,
    )
    origins = await _read_branch_points(tx, "<-[e:HAS_BRANCH]-", conversation_id)
    own = "n.uuid = $id"
    inside = "n.conversation_id = $id"
    whole_vectors = await _read_vectors(tx, vectors.CONVERSATIONS, own, conversation_id)
    return ConversationBundle(
        conversation=CONVERSATION.decode(row),
        messages=tuple(messages.decode_message(one) for one in said),
        references=await _read_references(tx, conversation_id),
        summaries=await _read_summaries(tx, conversation_id),
        branch_of=next(iter(origins), None),
        branches=tuple(await _read_branch_points(tx, "-[e:HAS_BRANCH]->", conversation_id)),
        vector=whole_vectors.get(conversation_id),
        turn_vectors=await _read_vectors(tx, vectors.TURNS, inside, conversation_id),
        summary_vectors=await _read_vectors(tx, vectors.SUMMARIES, inside, conversation_id),
        notes=tuple(
            NOTE.decode(one) for one in await note_nodes.read_of_conversation(tx, conversation_id)
        ),
        note_vectors=await _read_vectors(tx, vectors.NOTES, inside, conversation_id),
        trimmed=await _read_flagged(tx, "summary_trimmed", conversation_id),
        link_pending=await _read_flagged(tx, "link_pending", conversation_id),
    )


async def add(tx: Transaction, whole: ConversationBundle, tokeniser: Tokeniser) -> None:
    """Store a new conversation with all that belongs to it. Raises DuplicateId."""
    row = await conversation_nodes.create(tx, whole.conversation)
    await messages.insert_placed(tx, row, whole.messages)
    # Reading them back to index them would search what the transaction has not yet indexed.
    await messages.put_words(tx, group_into_turns(whole.messages), tokeniser)
    await conversation_nodes.recount(tx, row["uuid"])
    await facts.put_references(
        tx,
        [
            REFERENCE.encode(reference, owner_id=message_id)
            for message_id, references in whole.references.items()
            for reference in references
        ],
    )
    await _check_free(tx, whole.summaries)
    for summary in whole.summaries:
        await _add_summary(tx, summary, row["project_path"], tokeniser)
    known = await note_nodes.find_known(tx, [note.uuid for note in whole.notes])
    new = [NOTE.encode(note) for note in whole.notes if note.uuid not in known]
    await note_nodes.put(tx, new, tokeniser)
    new_vectors = {owner: v for owner, v in whole.note_vectors.items() if owner not in known}
    await vectors.put(tx, vectors.NOTES, new_vectors)
    for flag, ids in (("summary_trimmed", whole.trimmed), ("link_pending", whole.link_pending)):
        await tx.rows(
            f"MATCH (n:Message|Summary) WHERE n.uuid IN $ids SET n.{flag} = true", ids=list(ids)
        )
    await vectors.put(tx, vectors.TURNS, whole.turn_vectors)
    await vectors.put(tx, vectors.SUMMARIES, whole.summary_vectors)
    if whole.vector is not None:
        await vectors.put(tx, vectors.CONVERSATIONS, {row["uuid"]: whole.vector})
    await _link(tx, whole)


async def _read_references(
    tx: Transaction, conversation_id: str
) -> dict[str, tuple[CodeReference, ...]]:
    rows = await tx.column(
        f"""MATCH (m:Message {{conversation_id: $id}}) MATCH (f:CodeReference {{owner_id: m.uuid}})
            RETURN {select_fields("f", REFERENCE)} AS row
            ORDER BY m.position, f.file, f.qualified_name, f.scope_id""",
        id=conversation_id,
    )
    found = defaultdict(list)
    for row in rows:
        found[row["owner_id"]].append(REFERENCE.decode(row))
    return {owner: tuple(references) for owner, references in found.items()}


async def _read_summaries(tx: Transaction, conversation_id: str) -> tuple[SummaryBundle, ...]:
    rows = await tx.rows(
        f"""MATCH (n:Summary {{conversation_id: $id}})
            RETURN {summary_nodes.ROW} AS row,
              COLLECT {{ MATCH (n)-[:SUMMARIZES]->(m:Message {{role: 'user'}})
                         RETURN m.turn_index }} AS covers,
              COLLECT {{ MATCH (f:CodeMention {{owner_id: n.uuid}})
                         WITH f ORDER BY f.path, f.qualified_name, f.target_id
                         RETURN {facts.MENTION} }} AS mentions
            ORDER BY n.level, n.start_turn_index, n.uuid""",
        id=conversation_id,
    )
    return tuple(
        SummaryBundle(
            SUMMARY.decode(row["row"]),
            tuple(sorted(row["covers"])),
            tuple(FILE_MENTION.decode(one) for one in row["mentions"] if one["kind"] == "file"),
            tuple(REFERENCE.decode(one) for one in row["mentions"] if one["kind"] == "scope"),
        )
        for row in rows
    )


async def _read_flagged(tx: Transaction, flag: str, conversation_id: str) -> frozenset[str]:
    query = f"""MATCH (n:Message|Summary) WHERE n.conversation_id = $id AND n.{flag}
                RETURN n.uuid"""
    return frozenset(await tx.column(query, id=conversation_id))


async def _read_branch_points(
    tx: Transaction, arrow: str, conversation_id: str
) -> list[BranchPoint]:
    rows = await tx.rows(
        f"""MATCH (:Conversation {{uuid: $id}}){arrow}(n:Conversation)
            RETURN n.uuid AS conversation, e.message_id AS message ORDER BY n.uuid""",
        id=conversation_id,
    )
    return [BranchPoint(row["conversation"], row["message"]) for row in rows]


async def _read_vectors(
    tx: Transaction, shelf: Shelf, condition: str, conversation_id: str
) -> dict[str, Vector]:
    rows = await tx.rows(
        f"""MATCH (n:{shelf.label}) WHERE {condition} AND n.{shelf.name} IS NOT NULL
            RETURN n.uuid AS owner, n.{shelf.model} AS model, n.{shelf.name} AS numbers""",
        id=conversation_id,
    )
    return {row["owner"]: Vector.of(row["model"], row["numbers"]) for row in rows}


async def _check_free(tx: Transaction, summaries: Sequence[SummaryBundle]) -> None:
    ids = [known.summary.uuid for known in summaries]
    query = "MATCH (n:Summary) WHERE n.uuid IN $ids RETURN n.uuid LIMIT 1"
    if (taken := await tx.value(query, ids=ids)) is not None:
        raise DuplicateId("summary", taken)


async def _add_summary(
    tx: Transaction, whole: SummaryBundle, project_path: str, tokeniser: Tokeniser
) -> None:
    row = SUMMARY.encode(whole.summary)
    await summary_nodes.put(tx, row, project_path, tokeniser)
    await summary_nodes.cover_turns(tx, row, whole.covers)
    if whole.summary.level == 2:
        await summary_nodes.cover_parents(tx, row)
    owner = row["uuid"]
    mentions: list[Row] = [
        facts.mention_of_file(FILE_MENTION.encode(mention, owner_id=owner))
        for mention in whole.files
    ]
    mentions += [
        facts.mention_of_scope(REFERENCE.encode(scope, owner_id=owner)) for scope in whole.scopes
    ]
    await facts.put_mentions(tx, mentions)


async def _link(tx: Transaction, whole: ConversationBundle) -> None:
    """Link the conversation to those it shares a branch with, as far as they are there."""
    here = whole.conversation.uuid
    if (origin := whole.branch_of) is not None:
        await branching.link(tx, origin.conversation_id, here, origin.message_id)
    for point in whole.branches:
        await branching.link(tx, here, point.conversation_id, point.message_id)
