"""Builders: small domain objects for tests, with only what a test cares about spelt out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from ragforge.domain.code import (
    SECTION,
    CodeReference,
    File,
    FileMention,
    ParsedFile,
    Project,
    Scope,
    TouchKind,
)
from ragforge.domain.conversations import Conversation, Message, ToolCall, ToolResult
from ragforge.domain.notes import Note
from ragforge.domain.summaries import Level, Summary
from ragforge.domain.text import Json
from ragforge.domain.vectors import Vector

START = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
SHOP = "/work/shop"
MODEL = "toy-embedder"


def at(minutes: float, offset_hours: float = 0) -> datetime:
    """Return the moment this many minutes after START, in a time zone."""
    zone = timezone(timedelta(hours=offset_hours))
    return (START + timedelta(minutes=minutes)).astimezone(zone)


def conversation(cwd: str = SHOP, **fields: Any) -> Conversation:
    """Return a conversation that was last active at START unless told otherwise."""
    fields.setdefault("project_path", cwd)
    fields.setdefault("created_at", START)
    fields.setdefault("updated_at", fields["created_at"])
    return Conversation(cwd=cwd, **fields)


def user(content: str = "Where is the cart?", **fields: Any) -> Message:
    fields.setdefault("timestamp", START)
    return Message("user", content, **fields)


def assistant(content: str = "In cart.py.", *calls: ToolCall, **fields: Any) -> Message:
    fields.setdefault("timestamp", START)
    return Message("assistant", content, tool_calls=calls, **fields)


def system(content: str = "Be brief.", **fields: Any) -> Message:
    fields.setdefault("timestamp", START)
    return Message("system", content, **fields)


def tool_result(result: Json = "3 matches", **fields: Any) -> ToolResult:
    fields.setdefault("success", True)
    fields.setdefault("timestamp", START)
    fields.setdefault("result_size_bytes", 11)
    return ToolResult(result=result, **fields)


def tool_call(tool_name: str = "grep_files", **fields: Any) -> ToolCall:
    """Return a call with a result; `result=None` makes it an interrupted one."""
    fields.setdefault("arguments", {"pattern": "**/*.py"})
    fields.setdefault("timestamp", START)
    if "result" not in fields:
        fields["result"] = tool_result()
    return ToolCall(tool_name, **fields)


def exchange(question: str, answer: str, minute: float = 0) -> tuple[Message, Message]:
    """Return a question and its answer, both of the same minute."""
    return user(question, timestamp=at(minute)), assistant(answer, timestamp=at(minute))


def placed(messages: Iterable[Message], turn: int = 0, first: int = 0) -> list[Message]:
    """Return messages as the store returns them when all of them are one turn."""
    return [replace(m, turn_index=turn, position=first + i) for i, m in enumerate(messages)]


def summary(
    conversation_id: str, first: int = 0, last: int = 0, level: Level = 1, **fields: Any
) -> Summary:
    """Return a summary of the turns `first` to `last`, 100 characters each."""
    fields.setdefault("conversation_summary", f"Turns {first} to {last} were about the cart.")
    fields.setdefault("created_at", START)
    return Summary(
        conversation_id=conversation_id,
        level=level,
        start_turn_index=first,
        end_turn_index=last,
        char_range_start=fields.pop("char_range_start", first * 100),
        char_range_end=fields.pop("char_range_end", (last + 1) * 100),
        **fields,
    )


def level_2(parents: Sequence[Summary], **fields: Any) -> Summary:
    """Return an L2 over L1 summaries."""
    return summary(
        parents[0].conversation_id,
        parents[0].start_turn_index,
        parents[-1].end_turn_index,
        level=2,
        parent_summaries=tuple(parent.uuid for parent in parents),
        **fields,
    )


def note(text: str = "We deploy on Fridays.", path: str = SHOP, **fields: Any) -> Note:
    fields.setdefault("created_at", START)
    return Note(text, path, **fields)


def project(path: str = SHOP, **fields: Any) -> Project:
    """Return a project that was ingested."""
    fields.setdefault("name", path.rsplit("/", 1)[-1])
    fields.setdefault("state", "read")
    return Project(path, **fields)


def file(path: str = "src/cart.py", **fields: Any) -> File:
    fields.setdefault("hash", f"hash of {path}")
    return File(path, **fields)


def scope(name: str, path: str = "src/cart.py", lines: tuple[int, int] = (1, 9), **f: Any) -> Scope:
    f.setdefault("qualified_name", name)
    f.setdefault("type", "function")
    f.setdefault("source", f"def {name}(): ...")
    f.setdefault("hash", f"hash of {name}")
    return Scope(name, file=path, start_line=lines[0], end_line=lines[1], **f)


def parsed(path: str = "src/cart.py", *scopes: Scope, **fields: Any) -> ParsedFile:
    """Return a file with scopes, which are moved into it."""
    return ParsedFile(file(path, **fields), tuple(replace(s, file=path) for s in scopes))


def document(path: str, *titles: str) -> ParsedFile:
    """Return a document with one section for each title, ten lines each."""
    sections = (
        scope(title, path, (10 * i + 1, 10 * i + 10), type=SECTION, source=f"# {title}")
        for i, title in enumerate(titles)
    )
    return ParsedFile(file(path, kind="document", language="markdown"), tuple(sections))


def web_page(url: str, *titles: str) -> ParsedFile:
    """Return a web page with one section for each title."""
    page = document(url, *titles)
    return replace(page, file=replace(page.file, kind="web_page", mtime=START, state="related"))


def reference(
    scope_id: str,
    path: str = "src/cart.py",
    name: str = "add",
    hash: str = "h1",
    how: TouchKind = "named",
) -> CodeReference:
    return CodeReference(scope_id, path, name, hash, how)


def mention(path: str, hash: str = "h1", how: TouchKind = "named") -> FileMention:
    return FileMention(f"id of {path}", path, hash, how)


def vector(*values: float, model: str = MODEL) -> Vector:
    return Vector.of(model, values)


def direction(degrees: float, model: str = MODEL) -> Vector:
    """Return a unit vector of the plane: the smaller the angle between two, the nearer."""
    radians = math.radians(degrees)
    return vector(math.cos(radians), math.sin(radians), model=model)


def score_of(one: Vector, other: Vector) -> float:
    """Return (1 + cosine) / 2, worked out without any engine, in double precision."""
    a, b = one.values(), other.values()
    dot = math.fsum(x * y for x, y in zip(a, b, strict=True))
    norms = math.sqrt(math.fsum(x * x for x in a)) * math.sqrt(math.fsum(y * y for y in b))
    return (1 + dot / norms) / 2
