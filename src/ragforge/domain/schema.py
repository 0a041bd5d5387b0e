"""The schema: every kind of data that a store keeps, declared once for all engines.

`texts` are the fields that people, models and tools write: their secrets are removed before they
are stored. Paths, ids, keys of jobs and names of locks identify something and stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragforge.domain.chat import UsageFilter, UsageRecord
from ragforge.domain.code import (
    CodeReference,
    File,
    FileFilter,
    FileMention,
    Project,
    ProjectFilter,
    Scope,
    ScopeFilter,
    ScopeName,
    Touch,
)
from ragforge.domain.conversations import (
    Conversation,
    ConversationFilter,
    MemoryFilter,
    Message,
    MessagePlace,
    ToolCall,
    ToolResult,
)
from ragforge.domain.kinds import MAYBE_JSON, Condition, Kind
from ragforge.domain.notes import Note, NoteFilter, format_note_for_search
from ragforge.domain.passages import Passage, PassageFilter
from ragforge.domain.projects import Checkout, CheckoutFilter
from ragforge.domain.summaries import Summary, SummaryFilter, format_summary_for_search
from ragforge.domain.text import Json
from ragforge.domain.transcripts import TranscriptCursor
from ragforge.domain.turns import StoredTurn
from ragforge.domain.work import Job, JobFilter
from ragforge.errors import (
    ConversationNotFound,
    FileNotKnown,
    InputError,
    JobNotFound,
    MessageNotFound,
    NoteNotFound,
    PassageNotFound,
    ProjectNotFound,
    ScopeNotFound,
    SummaryNotFound,
)


def _list_message_texts(message: Message) -> Iterator[Json]:
    """Yield the texts of a message. Those of its receipt have names that are never secret."""
    yield message.content
    yield message.reasoning
    yield message.model
    waiting = [message.receipt]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list | tuple):
            waiting.extend(value)


def _list_scope_texts(scope: Scope) -> Iterator[str | None]:
    """Yield the texts of a scope, without those that its source contains."""
    yield scope.source
    yield from list_texts_outside_source(scope)


def list_texts_outside_source(scope: Scope) -> Iterator[str | None]:
    """Yield the texts of a scope that its source does not have."""
    source = scope.source
    yield scope.search_text
    for text in (scope.signature, scope.docstring):
        if text not in source:
            yield text
    if not scope.name.isidentifier():
        yield scope.name
        yield scope.qualified_name


def _equal(*names: str) -> dict[str, Condition]:
    """Return the conditions of fields that require a value of the column with their name."""
    return {name: ("is", name) for name in names}


_CREATED: dict[str, Condition] = {
    "since": ("from", "created_ms"),
    "until": ("until", "created_ms"),
}
_STARTED: dict[str, Condition] = {
    "since": ("from", "started_ms"),
    "until": ("until", "started_ms"),
}
CONVERSATION = Kind[Conversation, ConversationFilter](
    "conversation",
    Conversation,
    texts=("title", "summary", "tags", "agent_version", "git_branch"),
    derived=("author_key", "private_to"),
    milliseconds={"updated_ms": "updated_at"},
    ids=("cwd", "project_path", "project_id"),
    missing=ConversationNotFound,
    where={
        **_equal("cwd", "status", "agent", "parent_id"),
        "prefix": ("starts", "uuid"),
        "project_ids": ("any", "project_id"),
        "tags": ("shares", "tags"),
        "since": ("from", "updated_ms"),
        "until": ("until", "updated_ms"),
    },
    special=("own", "branch_of", "origin_of"),
    order=("-updated_ms", "uuid"),
)
MESSAGE = Kind[Message, None](
    "message",
    Message,
    texts=("content", "reasoning", "model", "receipt"),
    look=_list_message_texts,
    owner=("conversation_id", "private_to"),
    derived=("char_count",),
    milliseconds={"timestamp_ms": "timestamp"},
    flags=("summary_trimmed", "link_pending"),
    without=("tool_calls",),
    codecs={"receipt": MAYBE_JSON},
    missing=MessageNotFound,
)
MESSAGE_PLACE = Kind[MessagePlace, None](  # read without the texts of messages
    "message", MessagePlace, owner=("private_to",), missing=MessageNotFound
)
TOOL_CALL = Kind[ToolCall, None](
    "tool_call",
    ToolCall,
    texts=("tool_name", "arguments"),
    owner=("message_id", "position"),
    without=("result",),
)
TOOL_RESULT = Kind[ToolResult, None](
    "tool_result", ToolResult, texts=("result", "error"), owner=("tool_call_id",)
)
SUMMARY = Kind[Summary, SummaryFilter](
    "summary",
    Summary,
    texts=(
        *("conversation_summary", "actions_summary", "made_by"),
        *("files_mentioned", "key_findings", "tools_used", "topics"),
    ),
    owner=("private_to",),
    derived=("summary_char_count",),
    milliseconds={"created_ms": "created_at"},
    flags=("summary_trimmed",),
    missing=SummaryNotFound,
    where={
        **_equal("conversation_id", "level"),
        "conversation_ids": ("any", "conversation_id"),
        "first_turn": ("from", "start_turn_index"),
        **_CREATED,
    },
    special=("project_ids", "file", "unread", "outside_level_2", "waiting"),
    order=("conversation_id", "start_turn_index", "level", "uuid"),
    words=format_summary_for_search,
)
NOTE = Kind[Note, NoteFilter](
    "note",
    Note,
    texts=("text", "tags"),
    derived=("author_key", "private_to"),
    milliseconds={"created_ms": "created_at"},
    ids=("project_path", "project_id"),
    missing=NoteNotFound,
    where={
        **_equal("conversation_id", "text", "is_rule"),
        "prefix": ("starts", "uuid"),
        "project_ids": ("any", "project_id"),
        "tags": ("shares", "tags"),
        **_CREATED,
    },
    special=("with_superseded",),
    order=("-created_ms", "uuid"),
    words=format_note_for_search,
)
USAGE = Kind[UsageRecord, UsageFilter](
    "usage",
    UsageRecord,
    texts=("model",),
    owner=("private_to",),
    milliseconds={"created_ms": "created_at"},
    ids=("conversation_id",),
    where={
        "conversation_ids": ("any", "conversation_id"),
        **_CREATED,
    },
    order=("created_ms", "uuid"),
    replaces=True,  # the record of a turn grows with each of its requests
)
TURN = Kind[StoredTurn, MemoryFilter](  # the index of turns; their data are those of messages
    "turn",
    StoredTurn,
    owner=("message_id", "project_id", "private_to", "turn_index", "started_ms"),
    without=("messages",),
    key="message_id",
    missing=MessageNotFound,
    where={
        "project_ids": ("any", "project_id"),
        **_STARTED,
    },
    special=("conversation_id",),
    order=("started_ms",),
)
_OF_TURN = ("project_id", "private_to", "turn_index", "started_ms")
PASSAGE = Kind[Passage, PassageFilter](  # made of a turn when its words are indexed
    "passage",
    Passage,
    texts=("asked", "text"),
    owner=_OF_TURN,
    missing=PassageNotFound,
    where={
        "project_ids": ("any", "project_id"),
        **_STARTED,
        "kind": ("is", "kind"),
        "turn_ids": ("any", "turn_id"),
    },
    special=("conversation_id",),
    order=("started_ms", "uuid"),
)
CHECKOUT = Kind[Checkout, CheckoutFilter](
    "checkout",
    Checkout,
    ids=("path", "project_id"),
    where={"project_ids": ("any", "project_id")},
    special=("related_to",),
    order=("-seen_at", "uuid"),
    replaces=True,
)
PROJECT = Kind[Project, ProjectFilter](
    "project",
    Project,
    ids=("path", "project_id"),
    missing=ProjectNotFound,
    where={"project_ids": ("any", "project_id")},
    order=("path", "host", "uuid"),
    replaces=True,
)
FILE = Kind[File, FileFilter](
    "file",
    File,
    texts=("imports",),
    owner=("project_id",),
    derived=("name",),
    ids=("path",),
    missing=FileNotKnown,
    where={"project_id": ("is", "project_id"), "paths": ("any", "path"), "state": ("is", "state")},
    special=("under", "pages"),
    order=("path",),
)
_SCOPES: dict[str, Any] = {
    "named": {"start_line": "startLine", "end_line": "endLine"},
    "missing": ScopeNotFound,
    "where": {"hash": ("is", "hash")},
    "special": ("place",),
    "order": ("file", "startLine", "-endLine", "uuid"),  # the outer before the inner
}
SCOPE = Kind[Scope, ScopeFilter](
    "scope",
    Scope,
    texts=("source", "search_text", "docstring", "signature", "name", "qualified_name"),
    look=_list_scope_texts,
    owner=("file_id",),
    **_SCOPES,
)
SCOPE_NAME = Kind[ScopeName, ScopeFilter]("scope", ScopeName, **_SCOPES)  # scopes without sources
REFERENCE = Kind[CodeReference, None](
    "reference", CodeReference, texts=("qualified_name",), owner=("owner_id",), ids=("scope_id",)
)
FILE_MENTION = Kind[FileMention, None](
    "mention",
    FileMention,
    owner=("owner_id", "kind"),
    ids=("target_id",),
    named={"file_id": "target_id"},
)
SCOPE_MENTION = Kind[CodeReference, None](
    "mention",
    CodeReference,
    texts=("qualified_name",),
    owner=("owner_id", "kind"),
    ids=("target_id",),
    named={"scope_id": "target_id", "file": "path"},
)
JOB = Kind[Job, JobFilter](
    "job",
    Job,
    key="key",
    texts=("payload", "error"),
    milliseconds={"run_after_ms": "run_after"},
    ids=("key", "kind"),
    seen_by="owner",
    missing=JobNotFound,
    where={"status": ("is", "status")},
    order=("id",),  # of the row: the order in which they were queued
)
CURSOR = Kind[TranscriptCursor, None](  # it belongs to one machine, and is not copied
    "transcript", TranscriptCursor, texts=("state",), owner=("owner",)
)
TOUCH = Kind[Touch, None]("touch", Touch)  # read from several tables; never stored as such

KINDS: dict[str, Kind[Any, Any]] = {
    kind.name: kind
    for kind in (
        *(CONVERSATION, MESSAGE, TOOL_CALL, TOOL_RESULT, SUMMARY, NOTE, USAGE),
        *(CHECKOUT, PROJECT, FILE, SCOPE, REFERENCE, FILE_MENTION, JOB),
    )
}
"""All stored and copied kinds, each after those it refers to."""
TIMES = frozenset[str]().union(*(kind.times for kind in KINDS.values()))
LISTS = frozenset[str]().union(*(kind.lists for kind in KINDS.values()))
FLAGS = frozenset(("summary_trimmed", "link_pending"))

_OWN_PORT = (MESSAGE, SUMMARY, JOB, FILE, SCOPE)
OWNERS = {
    "tool_call": ("message_id", "message"),
    "tool_result": ("tool_call_id", "tool_call"),
    "reference": ("owner_id", "message"),
    "mention": ("owner_id", "summary"),
}
"""Kinds that belong to another one: the column, and the other kind."""
_TOLD = ("message", "summary", "note")
_EMBEDDED = ("turn", "conversation", "summary", "note", "scope")


def check_put(kind: Kind[Any, Any]) -> None:
    """Raise InputError for a kind whose new items are stored by a separate port."""
    if kind in _OWN_PORT:
        raise InputError(f"A {kind.name} is stored by its own port, not as a record.")


def list_parts() -> list[Kind[Any, Any]]:
    """Return the kinds that belong to a conversation, except messages, summaries and notes."""
    return [kind for kind in KINDS.values() if "conversation_id" in kind and kind.name not in _TOLD]


def list_embedded() -> list[Kind[Any, Any]]:
    """Return the kinds that have vectors."""
    more = (kind for kind in KINDS.values() if kind.words and kind.name not in _EMBEDDED)
    return [TURN, PASSAGE, CONVERSATION, SUMMARY, NOTE, SCOPE, *more]
