"""Restore: writing records exactly, with everything that follows from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeAlias

from ragforge.adapters.stores.neo4j import (
    branching,
    conversation_nodes,
    cypher,
    facts,
    file_nodes,
    jobs,
    messages,
    note_nodes,
    summary_nodes,
    vectors,
)
from ragforge.adapters.stores.neo4j.directories import add_directories
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.adapters.stores.neo4j.records import put_rows
from ragforge.adapters.stores.neo4j.relations import put_relations
from ragforge.adapters.stores.neo4j.vectors import get_shelf
from ragforge.domain.code import Relation
from ragforge.domain.kinds import STORED, CleanRow
from ragforge.domain.projects import Checkout, keep_both
from ragforge.domain.rows import make_mention
from ragforge.domain.schema import (
    CHECKOUT,
    CONVERSATION,
    FILE,
    FLAGS,
    JOB,
    KINDS,
    MESSAGE,
    NOTE,
    REFERENCE,
    SCOPE,
    SUMMARY,
    TOOL_CALL,
    TOOL_RESULT,
    list_embedded,
)
from ragforge.domain.vectors import Vector
from ragforge.errors import (
    ConversationNotFound,
    FileNotKnown,
    MessageNotFound,
    NotFound,
    ProjectNotFound,
    StoreError,
    SummaryNotFound,
)
from ragforge.ports.archive import RecordKind
from ragforge.ports.words import Tokeniser

_Writer: TypeAlias = Callable[[Transaction, list[CleanRow], Tokeniser], Awaitable[None]]


async def write(
    tx: Transaction, kind: RecordKind, rows: list[CleanRow], tokeniser: Tokeniser
) -> None:
    """Store records, replacing those that are there.

    Raises a NotFound if a record refers to what is not there.
    """
    if rows:
        if kind in _WRITERS:
            await _WRITERS[kind](tx, rows, tokeniser)
        else:
            declared = KINDS[kind]
            await put_rows(tx, declared, _pick_columns(declared, rows), tokeniser)


def _pick_columns(names: Iterable[str], rows: Sequence[CleanRow]) -> list[CleanRow]:
    wanted = list(names)
    return [
        CleanRow({name: (row[name] or None) if name in FLAGS else row[name] for name in wanted})
        for row in rows
    ]


async def _require(
    tx: Transaction, labels: str, ids: Sequence[str], error: type[NotFound] | None = None
) -> None:
    wanted = list(dict.fromkeys(ids))
    known = await tx.column(f"MATCH (n:{labels}) WHERE n.uuid IN $ids RETURN n.uuid", ids=wanted)
    for unknown in sorted(set(ids).difference(known)):
        raise error(unknown) if error else StoreError(f"No {labels} {unknown!r} to write to")


async def _write_conversations(tx: Transaction, rows: list[CleanRow], _: Tokeniser) -> None:
    went_on = await tx.column(
        """UNWIND $rows AS row MATCH (n:Conversation {uuid: row[0]})
           WHERE n.message_count > row[1] RETURN n.uuid""",
        rows=[[row["uuid"], row["message_count"]] for row in rows],
    )
    rows = [row for row in rows if row["uuid"] not in went_on]
    await conversation_nodes.put(tx, _pick_columns(CONVERSATION, rows))


async def _write_messages(tx: Transaction, rows: list[CleanRow], tokeniser: Tokeniser) -> None:
    owners = [row["conversation_id"] for row in rows]
    await _require(tx, "Conversation", owners, ConversationNotFound)
    await messages.put_messages(tx, _pick_columns(MESSAGE, rows))
    turns = {(row["conversation_id"], row["turn_index"]) for row in rows}
    await messages.index_turns(tx, turns, tokeniser)


async def _write_calls(tx: Transaction, rows: list[CleanRow], tokeniser: Tokeniser) -> None:
    owners = [row["message_id"] for row in rows]
    await _require(tx, "Message", owners, MessageNotFound)
    await messages.put_calls(tx, _pick_columns(TOOL_CALL, rows))
    await _index_turns_of(tx, owners, tokeniser)


async def _write_results(tx: Transaction, rows: list[CleanRow], tokeniser: Tokeniser) -> None:
    calls = [row["tool_call_id"] for row in rows]
    await _require(tx, "ToolCall", calls)
    await messages.put_results(tx, _pick_columns(TOOL_RESULT, rows))
    owners = await tx.column(
        "MATCH (t:ToolCall) WHERE t.uuid IN $calls RETURN DISTINCT t.message_id", calls=calls
    )
    await _index_turns_of(tx, owners, tokeniser)


async def _index_turns_of(
    tx: Transaction, message_ids: Sequence[str], tokeniser: Tokeniser
) -> None:
    rows = await tx.rows(
        """MATCH (m:Message) WHERE m.uuid IN $ids
           RETURN DISTINCT m.conversation_id AS conversation, m.turn_index AS turn""",
        ids=list(message_ids),
    )
    turns = [(row["conversation"], row["turn"]) for row in rows]
    await messages.index_turns(tx, turns, tokeniser)


async def _write_summaries(tx: Transaction, rows: list[CleanRow], tokeniser: Tokeniser) -> None:
    for row in rows:
        covers = [int(turn) for turn in row.get("covers") or ()]
        [fact] = _pick_columns(SUMMARY, [row])
        conversation = await conversation_nodes.read(tx, fact["conversation_id"])
        await summary_nodes.put(tx, fact, conversation["project_id"], tokeniser)
        await summary_nodes.uncover(tx, fact["uuid"])
        await summary_nodes.cover_turns(tx, fact, covers)
        if fact["level"] == 2:
            await summary_nodes.cover_parents(tx, fact)
        else:
            await summary_nodes.cover_by_parents(tx, fact)


async def _write_notes(tx: Transaction, rows: list[CleanRow], tokeniser: Tokeniser) -> None:
    await note_nodes.put(tx, _pick_columns(NOTE, rows), tokeniser)


async def _write_checkouts(tx: Transaction, rows: list[CleanRow], tokeniser: Tokeniser) -> None:
    copied = [CHECKOUT.decode(row) for row in _pick_columns(CHECKOUT, rows)]
    known = await _read_checkouts(tx, [one.uuid for one in copied])
    stored = [keep_both(known[one.uuid], one) if one.uuid in known else one for one in copied]
    await put_rows(tx, CHECKOUT, [CHECKOUT.encode(one, STORED) for one in stored], tokeniser)


async def _read_checkouts(tx: Transaction, ids: Sequence[str]) -> dict[str, Checkout]:
    row = cypher.select_fields("n", CHECKOUT)
    query = f"MATCH (n:Checkout) WHERE n.uuid IN $ids {cypher.LOCK} RETURN {row} AS row"
    found = (CHECKOUT.decode(row) for row in await tx.column(query, ids=list(ids)))
    return {one.uuid: one for one in found}


async def _write_files(tx: Transaction, rows: list[CleanRow], _: Tokeniser) -> None:
    await _require(tx, "Project", [row["project_id"] for row in rows], ProjectNotFound)
    await file_nodes.put_files(tx, _pick_columns(FILE, rows))
    by_project = defaultdict(list)
    for row in rows:
        by_project[row["project_id"]].append(row["path"])
    for project_id, paths in by_project.items():
        await add_directories(tx, project_id, paths)


async def _write_scopes(tx: Transaction, rows: list[CleanRow], tokeniser: Tokeniser) -> None:
    await _require(tx, cypher.FILE_LABELS, [row["file_id"] for row in rows], FileNotKnown)
    await file_nodes.put_scopes(tx, _pick_columns(SCOPE, rows), tokeniser)


async def _write_relations(tx: Transaction, rows: list[CleanRow], _: Tokeniser) -> None:
    edges = [(r["project_id"], Relation(r["kind"], r["source"], r["target"])) for r in rows]
    await put_relations(tx, edges)


async def _write_references(tx: Transaction, rows: list[CleanRow], _: Tokeniser) -> None:
    await _require(tx, "Message", [row["owner_id"] for row in rows], MessageNotFound)
    await facts.put_references(tx, _pick_columns(REFERENCE, rows))


async def _write_mentions(tx: Transaction, rows: list[CleanRow], _: Tokeniser) -> None:
    await _require(tx, "Summary", [row["owner_id"] for row in rows], SummaryNotFound)
    await facts.put_mentions(tx, [make_mention(row["kind"], row) for row in rows])


async def _write_branches(tx: Transaction, rows: list[CleanRow], _: Tokeniser) -> None:
    ends = [row[end] for row in rows for end in ("source", "target")]
    await _require(tx, "Conversation", ends, ConversationNotFound)
    for row in rows:
        await branching.link(tx, row["source"], row["target"], row["message_id"])


async def _write_vectors(tx: Transaction, rows: list[CleanRow], _: Tokeniser) -> None:
    by_kind: dict[str, dict[str, Vector]] = defaultdict(dict)
    for row in rows:
        by_kind[row["owner_kind"]][row["owner_id"]] = Vector(row["model"], bytes(row["data"]))
    for kind in list_embedded():
        if kind is not SCOPE:
            for unknown in await vectors.put(tx, get_shelf(kind), by_kind[kind.name]):
                raise kind.missing(unknown)
    hashes = {
        row["owner_id"]: row["embedding_hash"] for row in rows if row["owner_kind"] == "scope"
    }
    await vectors.put_of_scopes(tx, by_kind["scope"], hashes)


async def _write_jobs(tx: Transaction, rows: list[CleanRow], _: Tokeniser) -> None:
    found = _pick_columns(JOB, rows)
    await jobs.add(tx, found)
    await tx.each(f"MATCH (n:RagForgeJob {{key: row.key}}) SET {cypher.assign('n', JOB)}", found)


async def _write_forgotten(tx: Transaction, rows: list[CleanRow], _: Tokeniser) -> None:
    await tx.each(
        "MERGE (n:RagForgeForgotten {uuid: row.uuid, owner: row.owner})",
        [{"uuid": row["uuid"], "owner": row["owner"]} for row in rows],
    )


_WRITERS: dict[RecordKind, _Writer] = {
    "conversation": _write_conversations,
    "message": _write_messages,
    "tool_call": _write_calls,
    "tool_result": _write_results,
    "summary": _write_summaries,
    "note": _write_notes,
    "checkout": _write_checkouts,
    "file": _write_files,
    "scope": _write_scopes,
    "relation": _write_relations,
    "reference": _write_references,
    "mention": _write_mentions,
    "branch": _write_branches,
    "vector": _write_vectors,
    "job": _write_jobs,
    "forgotten": _write_forgotten,
}
