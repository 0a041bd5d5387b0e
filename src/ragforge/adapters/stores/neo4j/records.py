"""Records: reading all facts of a Neo4j store, page by page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragforge.adapters.stores.neo4j import facts
from ragforge.adapters.stores.neo4j.cypher import fields
from ragforge.adapters.stores.neo4j.driver import Transaction
from ragforge.adapters.stores.neo4j.vectors import (
    CONVERSATIONS,
    NOTES,
    SCOPES,
    SECTIONS,
    SUMMARIES,
    TURNS,
    Shelf,
)
from ragforge.adapters.stores.rows import (
    CONVERSATION,
    FILE,
    FLAGS,
    JOB,
    MESSAGE,
    NOTE,
    PROJECT,
    REFERENCE,
    SCOPE,
    SUMMARY,
    TIMES,
    TOOL_CALL,
    TOOL_RESULT,
)
from ragforge.adapters.stores.table import Row
from ragforge.domain.code import RELATION_KINDS
from ragforge.domain.instants import format_instant, parse_instant
from ragforge.domain.vectors import Vector
from ragforge.ports.archive import Record, RecordKind


@dataclass(frozen=True, slots=True)
class Section:
    """Records that are read together: what to match, ordered by which texts, what to return."""

    match: str
    record: str
    keys: tuple[str, ...] = ("n.uuid",)
    where: str = "true"


def _nodes(label: str, names: Iterable[str], key: str = "uuid") -> Section:
    return Section(f"(n:{label})", fields("n", names), (f"n.{key}",))


def _summaries(level: int) -> Section:
    covers = """COLLECT { MATCH (n)-[:SUMMARIZES]->(m:Message {role: 'user'})
                WITH m ORDER BY m.turn_index RETURN toString(m.turn_index) }"""
    record = fields("n", SUMMARY)[:-1] + f", covers: {covers}}}"
    return Section("(n:Summary)", record, where=f"n.level = {level}")


def _relations(label: str) -> Section:
    target = "coalesce(b.uuid, b.name)"
    return Section(
        f"(n:{label})-[e:{'|'.join(RELATION_KINDS)}]->(b)",
        f"{{kind: type(e), source: n.uuid, target: {target}, project_id: e.project_id}}",
        ("n.uuid", "type(e)", target),
    )


def _vectors(kind: str, shelf: Shelf) -> Section:
    record = f"""{{owner_kind: '{kind}', owner_id: n.uuid, model: n.{shelf.model},
        data: n.{shelf.name}, embedding_hash: n.embedding_hash}}"""
    return Section(f"(n:{shelf.label})", record, where=f"n.{shelf.name} IS NOT NULL")


_JOB = fields("n", JOB).replace(
    ".status", "status: CASE n.status WHEN 'running' THEN 'pending' ELSE n.status END"
)
_BRANCH = "{source: n.uuid, target: b.uuid, message_id: e.message_id}"

SECTIONS_OF: dict[RecordKind, tuple[Section, ...]] = {
    "conversation": (_nodes("Conversation", CONVERSATION),),
    "message": (_nodes("Message", MESSAGE),),
    "tool_call": (_nodes("ToolCall", TOOL_CALL),),
    "tool_result": (_nodes("ToolResult", TOOL_RESULT),),
    # Level 1 first: level 2 refers to it.
    "summary": (_summaries(1), _summaries(2)),
    "note": (_nodes("Note", NOTE),),
    "project": (_nodes("Project", PROJECT),),
    "file": tuple(_nodes(label, FILE) for label in ("File", "WebPage")),
    "scope": tuple(_nodes(label, SCOPE) for label in ("Scope", "MarkdownSection")),
    "relation": tuple(map(_relations, ("File", "WebPage", "Scope", "MarkdownSection"))),
    "reference": (
        Section("(n:CodeReference)", fields("n", REFERENCE), ("n.owner_id", "n.scope_id")),
    ),
    "mention": (
        Section("(f:CodeMention)", facts.MENTION, ("f.owner_id", "f.kind", "f.target_id")),
    ),
    "branch": (
        Section("(n:Conversation)-[e:HAS_BRANCH]->(b:Conversation)", _BRANCH, ("n.uuid", "b.uuid")),
    ),
    "vector": (
        _vectors("turn", TURNS),
        _vectors("conversation", CONVERSATIONS),
        _vectors("summary", SUMMARIES),
        _vectors("note", NOTES),
        _vectors("scope", SCOPES),
        _vectors("scope", SECTIONS),
    ),
    "job": (Section("(n:RagForgeJob)", _JOB, ("n.key",)),),
}


async def count(tx: Transaction, kind: RecordKind) -> int:
    """Return how many records of a kind there are."""
    total = 0
    for section in SECTIONS_OF[kind]:
        query = f"MATCH {section.match} WHERE {section.where} RETURN count(*)"
        total += int(await tx.value(query))
    return total


async def read(
    tx: Transaction, kind: RecordKind, after: str | None, limit: int
) -> list[tuple[str, Record]]:
    """Return records with their cursors, after the given one.

    A cursor is the number of the section and the keys of the record in it.
    """
    number, keys = (0, []) if after is None else _cursor(after)
    found: list[tuple[str, Record]] = []
    for place, section in enumerate(SECTIONS_OF[kind][number:], number):
        if len(found) >= limit:
            break
        start = keys if place == number and keys else [""] * len(section.keys)
        page = await _page(tx, section, start, limit - len(found))
        found += [(json.dumps([place, *row["keys"]]), _record(kind, row["record"])) for row in page]
    return found


def _cursor(text: str) -> tuple[int, list[str]]:
    number, *keys = json.loads(text)
    return number, keys


async def _page(tx: Transaction, section: Section, after: list[str], limit: int) -> list[Row]:
    return await tx.rows(
        f"""MATCH {section.match} WHERE {_after(section.keys)} AND {section.where}
            RETURN {section.record} AS record, [{", ".join(section.keys)}] AS keys
            ORDER BY {", ".join(section.keys)} LIMIT $limit""",
        after=after,
        limit=limit,
    )


def _after(keys: Sequence[str], place: int = 0) -> str:
    """Return the condition that keys come after the parameter `after`, the first one first."""
    first, *rest = keys
    if not rest:
        return f"{first} > $after[{place}]"
    # A plain bound on the first key lets its index find and order the page.
    return (
        f"{first} >= $after[{place}] AND ({first} <> $after[{place}] OR {_after(rest, place + 1)})"
    )


def _record(kind: RecordKind, row: Row) -> Record:
    if kind == "vector":
        row["data"] = Vector.of(row["model"], row["data"]).data
    for name in FLAGS & row.keys():
        row[name] = bool(row[name])
    for name in TIMES & row.keys():
        if row[name] is not None:  # Neo4j leaves out seconds that are zero
            row[name] = format_instant(parse_instant(row[name]))
    return row
