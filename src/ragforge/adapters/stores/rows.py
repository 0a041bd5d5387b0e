"""Rows: domain data as flat rows, with the same columns on every engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from ragforge.adapters.stores.table import JSON, Row, Stored, Table, format_time
from ragforge.domain.code import (
    CodeReference,
    File,
    FileMention,
    Project,
    Scope,
    ScopeName,
    Touch,
    TouchKind,
    pick_strongest,
)
from ragforge.domain.conversations import Conversation, Message, ToolCall, ToolResult
from ragforge.domain.notes import Note
from ragforge.domain.projects import Checkout
from ragforge.domain.summaries import Summary
from ragforge.domain.work import Job, NewJob

_LINES = {"start_line": "startLine", "end_line": "endLine"}

CONVERSATION = Table(
    "conversation",
    Conversation,
    derived=("author_key", "private_to"),
    milliseconds={"updated_ms": "updated_at"},
    ids=("cwd", "project_path", "project_id"),
)
MESSAGE = Table(
    "message",
    Message,
    owner=("conversation_id", "private_to"),
    derived=("char_count",),
    milliseconds={"timestamp_ms": "timestamp"},
    flags=("summary_trimmed", "link_pending"),
    without=("tool_calls",),
    codecs={"receipt": JSON.optional()},
)
TOOL_CALL = Table("tool_call", ToolCall, owner=("message_id", "position"), without=("result",))
TOOL_RESULT = Table("tool_result", ToolResult, owner=("tool_call_id",))
SUMMARY = Table(
    "summary",
    Summary,
    owner=("private_to",),
    derived=("summary_char_count",),
    milliseconds={"created_ms": "created_at"},
    flags=("summary_trimmed",),
)
NOTE = Table(
    "note",
    Note,
    derived=("author_key", "private_to"),
    milliseconds={"created_ms": "created_at"},
    ids=("project_path", "project_id"),
)
CHECKOUT = Table("checkout", Checkout, ids=("path", "project_id"))
PROJECT = Table("project", Project, ids=("path", "project_id"))
FILE = Table("file", File, owner=("project_id",), derived=("name",), ids=("path",))
SCOPE = Table("scope", Scope, owner=("file_id",), named=_LINES)
REFERENCE = Table("reference", CodeReference, owner=("owner_id",), ids=("scope_id",))
FILE_MENTION = Table("mention", FileMention, owner=("owner_id",), ids=("file_id",))
JOB = Table("job", Job, milliseconds={"run_after_ms": "run_after"}, ids=("key", "kind"))
TOUCH = Table("touch", Touch)  # read from several tables; never stored as such

_STORED: tuple[Table[Any], ...] = (
    *(CONVERSATION, MESSAGE, TOOL_CALL, TOOL_RESULT, SUMMARY, NOTE),
    *(CHECKOUT, PROJECT, FILE, SCOPE, REFERENCE, FILE_MENTION, JOB),
)
TIMES = frozenset[str]().union(*(table.times for table in _STORED))
LISTS = frozenset[str]().union(*(table.lists for table in _STORED))
FLAGS = frozenset(("summary_trimmed", "link_pending"))

SCOPE_NAME = tuple(_LINES.get(name, name) for name in ScopeName._fields)
"""The columns that name a scope."""


def decode_tool_call(row: Stored, result: Stored | None) -> ToolCall:
    """Return a tool call with its result, if it has one."""
    return TOOL_CALL.decode(row, result=None if result is None else TOOL_RESULT.decode(result))


def find_unfinished(
    message: Message, calls: Iterable[ToolCall]
) -> list[tuple[ToolCall, ToolResult]]:
    """Return the calls of a message that have a result now and none in the store, with it."""
    waiting = {call.uuid for call in message.tool_calls if call.result is None}
    return [(call, call.result) for call in calls if call.uuid in waiting and call.result]


def encode_tool_result(call_id: str, result: ToolResult) -> Row:
    """Return the row of a tool result. Its size is that of its text unless it is given."""
    row = TOOL_RESULT.encode(result, tool_call_id=call_id)
    return row | {"result_size_bytes": result.result_size_bytes or len(row["result"].encode())}


def encode_file_time(time: datetime | None) -> str | None:
    """Return the time of a file as it is stored."""
    return None if time is None else format_time("file.mtime", time)


def strengthen(row: Row, known: Mapping[str, TouchKind]) -> Row:
    """Return a reference's row that says no less than what is known of its scope."""
    before = known.get(row["scope_id"])
    return row if before is None else row | {"how": pick_strongest((row["how"], before))}


def encode_job(job: NewJob, created: datetime, owner: str | None) -> Row:
    """Return the row of an author's new job, which is due at once unless it says when."""
    run_after = created if job.run_after is None else job.run_after
    new = Job(job.key, job.kind, job.payload, "pending", 0, run_after, created)
    return JOB.encode(replace(new, owner=owner, machine=job.machine))
