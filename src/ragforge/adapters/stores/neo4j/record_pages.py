"""Records: reading all facts of a Neo4j store, page by page, or those of one conversation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ragforge.adapters.stores.neo4j.cypher import (
    filter_seen,
    get_label,
    is_seen,
    select_fields,
    select_values,
)
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.adapters.stores.neo4j.links import MENTION
from ragforge.adapters.stores.neo4j.records import IS_OWN_NOTE
from ragforge.adapters.stores.neo4j.vectors import SECTIONS, VectorIndex, get_vector_index
from ragforge.domain import schema
from ragforge.domain.code import RELATION_KINDS
from ragforge.domain.instants import format_instant, parse_instant
from ragforge.domain.kinds import Row
from ragforge.domain.vectors import Vector
from ragforge.errors import ConversationNotFound
from ragforge.ports.store import Record, RecordKind, list_record_kinds


@dataclass(frozen=True, slots=True)
class RecordSection:
    """Records that are read together: what to match, ordered by which texts, what to return.

    The names of a record are sent with each unless the section has them: then it is a list.
    """

    match: str
    record: str
    names: tuple[str, ...] = ()
    keys: tuple[str, ...] = ("n.uuid",)
    where: str = "true"
    seen: str = "true"  # which a viewer sees
    inside: str | None = None  # what to match for those of the conversation $id, if any are

    def make_filter(self, tx: Transaction) -> str:
        """Return which records are read; an administrator reads all."""
        return self.where if tx.viewer is None else f"{self.where} AND {self.seen}"

    def decode(self, record: Row | Sequence[Any]) -> Row:
        return dict(zip(self.names, record, strict=True)) if self.names else dict(record)


def _make_section(
    label: str,
    names: Iterable[str],
    keys: tuple[str, ...] = ("uuid",),
    seen: str = "true",
    inside: str | None = None,
) -> RecordSection:
    columns, ordered = tuple(names), tuple(f"n.{key}" for key in keys)
    values = select_values("n", columns)
    return RecordSection(f"(n:{label})", values, columns, ordered, seen=seen, inside=inside)


def _make_owned(
    label: str, names: Iterable[str], owner: str, path: str = "", keys: tuple[str, ...] = ("uuid",)
) -> tuple[RecordSection, ...]:
    """Return records `n` of messages or summaries `o`, by the path from these, or by owner_id."""
    path = path or f", (n:{label} {{owner_id: o.uuid}})"
    seen = f"EXISTS {{ MATCH (o:{owner}){path} WHERE {is_seen('o')} }}"
    inside = f"(o:{owner} {{conversation_id: $id}}){path}"
    return (_make_section(label, names, keys, seen, inside),)


def _match_inside(label: str) -> str:
    name = "uuid" if label == "Conversation" else "conversation_id"
    return f"(n:{label} {{{name}: $id}})"


def _make_summary_section(level: int) -> RecordSection:
    covers = """COLLECT { MATCH (n)-[:SUMMARIZES]->(m:Message {role: 'user'})
                WITH m ORDER BY m.turn_index RETURN toString(m.turn_index) }"""
    record = select_fields("n", schema.SUMMARY)[:-1] + f", covers: {covers}}}"
    return RecordSection(
        "(n:Summary)",
        record,
        where=f"n.level = {level}",
        seen=is_seen("n"),
        inside=_match_inside("Summary"),
    )


def _make_relation_section(label: str) -> RecordSection:
    target = "coalesce(b.uuid, b.name)"
    return RecordSection(
        f"(n:{label})-[e:{'|'.join(RELATION_KINDS)}]->(b)",
        f"[type(e), n.uuid, {target}, e.project_id]",
        ("kind", "source", "target", "project_id"),
        ("n.uuid", "type(e)", target),
    )


def _make_vector_section(kind: str, index: VectorIndex, with_data: bool) -> RecordSection:
    data = f"n.{index.name}" if with_data else "null"
    return RecordSection(
        f"(n:{index.label})",
        f"['{kind}', n.uuid, n.{index.model}, {data}, n.embedding_hash]",
        ("owner_kind", "owner_id", "model", "data", "embedding_hash"),
        where=f"n.{index.name} IS NOT NULL",
        seen=is_seen("n"),
        inside=None if kind == "scope" else _match_inside(index.label),
    )


_JOB = select_fields("n", schema.JOB).replace(
    ".status", "status: CASE n.status WHEN 'running' THEN 'pending' ELSE n.status END"
)
_BRANCH = "{source: n.uuid, target: b.uuid, message_id: e.message_id}"

_SPECIAL: dict[RecordKind, tuple[RecordSection, ...]] = {
    "tool_call": _make_owned(
        "ToolCall", schema.TOOL_CALL, "Message", "-[:MADE_TOOL_CALL]->(n:ToolCall)"
    ),
    "tool_result": _make_owned(
        "ToolResult",
        schema.TOOL_RESULT,
        "Message",
        "-[:MADE_TOOL_CALL]->()-[:PRODUCED_RESULT]->(n:ToolResult)",
    ),
    # Level 1 first: level 2 refers to it.
    "summary": (_make_summary_section(1), _make_summary_section(2)),
    "file": tuple(_make_section(label, schema.FILE) for label in ("File", "WebPage")),
    "scope": tuple(_make_section(label, schema.SCOPE) for label in ("Scope", "MarkdownSection")),
    "relation": tuple(map(_make_relation_section, ("File", "WebPage", "Scope", "MarkdownSection"))),
    "reference": _make_owned(
        "CodeReference", schema.REFERENCE, "Message", keys=("owner_id", "scope_id")
    ),
    "mention": _make_owned("CodeMention", MENTION, "Summary", keys=MENTION[:3]),
    "branch": (
        RecordSection(
            "(n:Conversation)-[e:HAS_BRANCH]->(b:Conversation)",
            _BRANCH,
            keys=("n.uuid", "b.uuid"),
            seen=f"{is_seen('n')} AND {is_seen('b')}",
            inside="""(:Conversation {uuid: $id})-[e:HAS_BRANCH]-()
                WITH e, startNode(e) AS n, endNode(e) AS b""",
        ),
    ),
    "job": (RecordSection("(n:RagForgeJob)", _JOB, keys=("n.key",), seen=filter_seen(schema.JOB)),),
    "forgotten": (
        _make_section("RagForgeForgotten", ("uuid", "owner"), ("uuid", "owner"), IS_OWN_NOTE),
    ),
    "bookmark": (_make_section("RagForgeBookmark", ("name", "value"), ("name",)),),
}


def _get_sections(kind: RecordKind, with_data: bool = True) -> tuple[RecordSection, ...]:
    if kind == "vector":
        indexes = [(one.name, get_vector_index(one)) for one in schema.list_embedded()]
        indexes.append(("scope", SECTIONS))
        return tuple(_make_vector_section(*one, with_data) for one in indexes)
    if kind in _SPECIAL:
        return _SPECIAL[kind]
    declared, label = schema.KINDS[kind], get_label(schema.KINDS[kind])
    is_inside = kind == "conversation" or "conversation_id" in declared
    inside = _match_inside(label) if is_inside else None
    return (_make_section(label, declared, seen=filter_seen(declared), inside=inside),)


async def count(tx: Transaction, kind: RecordKind) -> int:
    """Return how many records of a kind there are."""
    total = 0
    for section in _get_sections(kind):
        query = f"MATCH {section.match} WHERE {section.make_filter(tx)} RETURN count(*)"
        total += int(await tx.value(query))
    return total


async def read(
    tx: Transaction, kind: RecordKind, after: str | None, limit: int
) -> list[tuple[str, Record]]:
    """Return records with their cursors, after the given one.

    A cursor is the number of the section and the keys of the record in it.
    """
    number, keys = (0, []) if after is None else _parse_cursor(after)
    found: list[tuple[str, Record]] = []
    for place, section in enumerate(_get_sections(kind)[number:], number):
        if len(found) >= limit:
            break
        start = keys if place == number and keys else [""] * len(section.keys)
        page = await _page(tx, section, start, limit - len(found))
        found += [
            (json.dumps([place, *at]), _record(kind, section.decode(record))) for record, at in page
        ]
    return found


async def read_conversation(
    tx: Transaction, conversation_id: str, with_vectors: bool
) -> dict[RecordKind, list[Record]]:
    """Return all records of a conversation. Raises ConversationNotFound."""
    sections = [
        (kind, section)
        for kind in list_record_kinds()
        for section in _get_sections(kind, with_vectors)
        if section.inside is not None
    ]
    found = ", ".join(
        f"COLLECT {{ MATCH {one.inside} WHERE {one.make_filter(tx)} RETURN {one.record} }} AS s{n}"
        for n, (_, one) in enumerate(sections)
    )
    # The lock prevents changes until all of it is read.
    row = await tx.row(
        f"""MATCH (talk:Conversation {{uuid: $id}}) WHERE {is_seen("talk")}
            SET talk._lock = true REMOVE talk._lock
            WITH talk RETURN {found}""",
        id=conversation_id,
    )
    if row is None:
        raise ConversationNotFound(conversation_id)
    bundle: dict[RecordKind, list[Record]] = {kind: [] for kind, _ in sections}
    for (kind, section), records in zip(sections, row.values(), strict=True):
        bundle[kind] += [_record(kind, section.decode(record)) for record in records]
    return bundle


def _parse_cursor(text: str) -> tuple[int, list[str]]:
    number, *keys = json.loads(text)
    return number, keys


async def _page(
    tx: Transaction, section: RecordSection, after: list[str], limit: int
) -> list[tuple[Any, list[str]]]:
    # All in one row: the driver is slow to read many.
    page: list[tuple[Any, list[str]]] = await tx.value(
        f"""MATCH {section.match} WHERE {_format_after(section.keys)} AND {section.make_filter(tx)}
            WITH {section.record} AS record, [{", ".join(section.keys)}] AS keys
            ORDER BY {", ".join(section.keys)} LIMIT $limit
            RETURN collect([record, keys])""",
        after=after,
        limit=limit,
    )
    return page


def _format_after(keys: Sequence[str], place: int = 0) -> str:
    """Return the condition that keys come after the parameter `after`, the first one first."""
    first, *rest = keys
    if not rest:
        return f"{first} > $after[{place}]"
    # A plain bound on the first key lets its index find and order the page.
    later = _format_after(rest, place + 1)
    return f"{first} >= $after[{place}] AND ({first} <> $after[{place}] OR {later})"


def _record(kind: RecordKind, row: Row) -> Record:
    if kind == "vector":
        row["data"] = row["data"] and Vector.of(row["model"], row["data"]).data
    for name in schema.FLAGS & row.keys():
        row[name] = bool(row[name])
    for name in schema.TIMES & row.keys():
        if row[name] is not None:  # Neo4j leaves out seconds that are zero
            row[name] = format_instant(parse_instant(row[name]))
    return row
