"""Restore: writing records exactly, with everything that follows from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from ragforge.adapters.stores.neo4j import (
    branching,
    conversation_nodes,
    cypher,
    file_nodes,
    links,
    messages,
    records,
    summary_nodes,
    vectors,
    work,
)
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.adapters.stores.neo4j.file_nodes import add_directories, put_relations
from ragforge.adapters.stores.neo4j.records import put_rows
from ragforge.adapters.stores.neo4j.vectors import get_vector_index
from ragforge.domain.code import Relation
from ragforge.domain.conversation_bundle import drop_notes, group_by
from ragforge.domain.kinds import STORED, CleanRow, Kind
from ragforge.domain.projects import Checkout, keep_both
from ragforge.domain.schema import (
    CHECKOUT,
    CONVERSATION,
    FILE,
    FLAGS,
    JOB,
    KINDS,
    OWNERS,
    PASSAGE,
    SCOPE,
    SUMMARY,
    list_embedded,
)
from ragforge.domain.vectors import Vector
from ragforge.errors import DuplicateId
from ragforge.ports.search_index import Tokeniser
from ragforge.ports.store import RecordKind, list_record_kinds

_CREATE = f"CREATE (n:Conversation:ConversationSession) SET {cypher.assign('n', CONVERSATION)}"
"""Not MERGE: of two at once one must fail."""


async def write(
    tx: Transaction, rows: dict[RecordKind, list[CleanRow]], new: bool, tokeniser: Tokeniser
) -> None:
    """Store records, replacing those that are there, unless all are new.

    Raises a NotFound if a record refers to what is not there, DuplicateId.
    """
    rows = dict(rows)  # a transaction is repeated after a transient failure
    if new:
        await _check_free(tx, rows)
        notes = [row["uuid"] for row in rows.get("note", ())]
        drop_notes(rows, await records.find_known(tx, notes))
        await tx.each(_CREATE, _pick_columns(CONVERSATION, rows.pop("conversation", ())))
        await _link(tx, rows.pop("branch", ()))  # those whose other end is not there are left out
    for kind in (*list_record_kinds(), "bookmark"):
        if kind == "vector":  # passages must be there before their vectors
            await _index_turns(tx, rows, tokeniser)
        if found := rows.get(kind):
            await _require_owners(tx, kind, found)
            stored = found if kind in _AS_THEY_ARE else _pick_columns(KINDS[kind], found)
            if kind in _WRITERS:
                await _WRITERS[kind](tx, stored)
            elif kind in _INDEXED:
                await _INDEXED[kind](tx, stored, tokeniser)
            else:
                await put_rows(tx, KINDS[kind], stored, tokeniser)


async def _check_free(tx: Transaction, rows: Mapping[RecordKind, Sequence[CleanRow]]) -> None:
    """Raise DuplicateId if an id of new records is taken."""
    ids = {
        kind: [row["uuid"] for row in found]
        for kind, found in rows.items()
        if kind in KINDS and kind != "note" and "uuid" in KINDS[kind]
    }
    taken = " UNION ALL ".join(
        f"UNWIND ${kind} AS id MATCH (:{cypher.get_label(KINDS[kind])} {{uuid: id}}) "
        f"RETURN ['{kind}', id] AS taken"
        for kind in ids
    )
    for kind, uuid in await tx.value(f"RETURN COLLECT {{ {taken} }}", **ids):
        raise DuplicateId(kind.replace("_", " "), uuid)


def _pick_columns(names: Iterable[str], rows: Sequence[CleanRow]) -> list[CleanRow]:
    wanted = list(names)
    return [
        CleanRow({name: (row[name] or None) if name in FLAGS else row[name] for name in wanted})
        for row in rows
    ]


async def _require_owners(tx: Transaction, kind: RecordKind, rows: Sequence[CleanRow]) -> None:
    """Raise a NotFound if what records belong to is not there."""
    if kind in _OWNERS:
        column, owner = _OWNERS[kind]
        await _require(tx, KINDS[owner], {row[column] for row in rows})


async def _require(tx: Transaction, owner: Kind[Any, Any], ids: set[str]) -> None:
    label = cypher.FILE_LABELS if owner is FILE else cypher.get_label(owner)
    query = f"MATCH (n:{label}) WHERE n.uuid IN $ids RETURN n.uuid"
    for unknown in sorted(ids.difference(await tx.column(query, ids=list(ids)))):
        raise owner.missing(unknown)


async def _write_conversations(tx: Transaction, rows: list[CleanRow]) -> None:
    went_on = await tx.column(
        """UNWIND $rows AS row MATCH (n:Conversation {uuid: row[0]})
           WHERE n.message_count > row[1] RETURN n.uuid""",
        rows=[[row["uuid"], row["message_count"]] for row in rows],
    )
    rows = [row for row in rows if row["uuid"] not in went_on]
    await conversation_nodes.put(tx, rows)


async def _index_turns(
    tx: Transaction, rows: Mapping[RecordKind, Sequence[CleanRow]], tokeniser: Tokeniser
) -> None:
    """Index the words of the turns in which something was written, and make their passages."""
    said = {row["uuid"] for row in rows.get("message", ())}
    said.update(row["message_id"] for row in rows.get("tool_call", ()))
    calls = [row["tool_call_id"] for row in rows.get("tool_result", ())]
    if said or calls:
        turns = await tx.column(
            """CALL () { MATCH (m:Message) WHERE m.uuid IN $said RETURN m UNION
                 MATCH (m:Message)-[:MADE_TOOL_CALL]->(t:ToolCall) WHERE t.uuid IN $calls
                 RETURN m }
               RETURN DISTINCT [m.conversation_id, m.turn_index]""",
            said=list(said),
            calls=calls,
        )
        await messages.index_turns(tx, turns, tokeniser)


async def _write_summaries(tx: Transaction, rows: list[CleanRow], tokeniser: Tokeniser) -> None:
    for row in rows:
        covers = [int(turn) for turn in row["covers"]]
        [fact] = _pick_columns(SUMMARY, [row])
        conversation = await tx.read_item(CONVERSATION, fact["conversation_id"])
        await summary_nodes.put(tx, fact, conversation["project_id"], tokeniser)
        await summary_nodes.uncover(tx, fact["uuid"])
        await summary_nodes.cover_turns(tx, fact, covers)
        if fact["level"] == 2:
            await summary_nodes.cover_parents(tx, fact)
        else:
            await summary_nodes.cover_by_parents(tx, fact)


async def _write_checkouts(tx: Transaction, rows: list[CleanRow], tokeniser: Tokeniser) -> None:
    copied = [CHECKOUT.decode(row) for row in rows]
    known = await _read_checkouts(tx, [one.uuid for one in copied])
    stored = [keep_both(known[one.uuid], one) if one.uuid in known else one for one in copied]
    await put_rows(tx, CHECKOUT, [CHECKOUT.encode(one, STORED) for one in stored], tokeniser)


async def _read_checkouts(tx: Transaction, ids: Sequence[str]) -> dict[str, Checkout]:
    row = cypher.select_fields("n", CHECKOUT)
    query = f"MATCH (n:Checkout) WHERE n.uuid IN $ids {cypher.LOCK} RETURN {row} AS row"
    found = (CHECKOUT.decode(row) for row in await tx.column(query, ids=list(ids)))
    return {one.uuid: one for one in found}


async def _write_files(tx: Transaction, rows: list[CleanRow]) -> None:
    await file_nodes.put_files(tx, rows)
    for project_id, files in group_by(rows, "project_id").items():
        await add_directories(tx, project_id, [row["path"] for row in files])


async def _write_relations(tx: Transaction, rows: list[CleanRow]) -> None:
    edges = [(r["project_id"], Relation(r["kind"], r["source"], r["target"])) for r in rows]
    await put_relations(tx, edges)


async def _write_branches(tx: Transaction, rows: list[CleanRow]) -> None:
    for end in ("source", "target"):
        await _require(tx, CONVERSATION, {row[end] for row in rows})
    await _link(tx, rows)


async def _link(tx: Transaction, branches: Sequence[CleanRow]) -> None:
    for row in branches:
        await branching.link(tx, row["source"], row["target"], row["message_id"])


async def _write_vectors(tx: Transaction, rows: list[CleanRow]) -> None:
    by_kind: dict[str, dict[str, Vector]] = defaultdict(dict)
    for row in rows:
        by_kind[row["owner_kind"]][row["owner_id"]] = Vector(row["model"], bytes(row["data"]))
    for kind in list_embedded():
        if kind is not SCOPE:
            for unknown in await vectors.put(tx, get_vector_index(kind), by_kind[kind.name]):
                if kind is not PASSAGE:  # another version may have cut the turn elsewhere
                    raise kind.missing(unknown)
    hashes = {
        row["owner_id"]: row["embedding_hash"] for row in rows if row["owner_kind"] == "scope"
    }
    await vectors.put_of_scopes(tx, by_kind["scope"], hashes)


async def _write_jobs(tx: Transaction, rows: list[CleanRow]) -> None:
    await work.add(tx, rows)
    await tx.each(f"MATCH (n:RagForgeJob {{key: row.key}}) SET {cypher.assign('n', JOB)}", rows)


async def _write_forgotten(tx: Transaction, rows: list[CleanRow]) -> None:
    await tx.each("MERGE (n:RagForgeForgotten {uuid: row.uuid, owner: row.owner})", rows)


async def _write_bookmarks(tx: Transaction, rows: list[CleanRow]) -> None:
    named = "(n:RagForgeBookmark {name: row.name})"
    await tx.each(f"MERGE {named} SET n.value = row.value", rows)
    await tx.each(f"MATCH {named} DELETE n", [row for row in rows if row["value"] is None])


_OWNERS = OWNERS | {
    "message": ("conversation_id", "conversation"),
    "file": ("project_id", "project"),
    "scope": ("file_id", "file"),
}
_WRITERS: dict[RecordKind, Callable[[Transaction, list[CleanRow]], Awaitable[None]]] = {
    "conversation": _write_conversations,
    "message": messages.put_messages,
    "tool_call": messages.put_calls,
    "tool_result": messages.put_results,
    "file": _write_files,
    "relation": _write_relations,
    "reference": links.put_references,
    "mention": links.put_mentions,
    "branch": _write_branches,
    "vector": _write_vectors,
    "job": _write_jobs,
    "forgotten": _write_forgotten,
    "bookmark": _write_bookmarks,
}
_INDEXED: dict[RecordKind, Callable[[Transaction, list[CleanRow], Tokeniser], Awaitable[None]]] = {
    "summary": _write_summaries,
    "note": records.put,
    "checkout": _write_checkouts,
    "scope": file_nodes.put_scopes,
}
_AS_THEY_ARE = ("summary", "relation", "mention", "branch", "vector", "forgotten", "bookmark")
"""Kinds whose records have what a node has not, or that are not declared."""
