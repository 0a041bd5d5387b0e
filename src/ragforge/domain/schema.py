"""The schema: every kind of data that a store keeps, declared once for all engines.

`texts` are the fields that people, models and tools write: their secrets are removed before they
are stored. Paths, ids, keys of jobs and names of locks identify something and stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from ragforge.domain.code import (
    CodeReference,
    File,
    FileMention,
    ParsedFile,
    Project,
    ProjectFilter,
    Relation,
    Scope,
    ScopeName,
    Touch,
    TouchKind,
    pick_strongest,
)
from ragforge.domain.conversations import (
    Conversation,
    ConversationFilter,
    MemoryFilter,
    Message,
    ToolCall,
    ToolResult,
)
from ragforge.domain.kinds import (
    MAYBE_JSON,
    STORED,
    CleanRow,
    Kind,
    Redactor,
    Stored,
    format_time,
)
from ragforge.domain.notes import Note, NoteFilter, format_note_for_search
from ragforge.domain.projects import Checkout, CheckoutFilter
from ragforge.domain.summaries import Summary, SummaryFilter, format_summary_for_search
from ragforge.domain.text import Json
from ragforge.domain.transcripts import (
    CallResult,
    IntakeStep,
    NewConversation,
    NewMessage,
    SessionUpdate,
)
from ragforge.domain.turns import StoredTurn
from ragforge.domain.work import Job, NewJob
from ragforge.errors import (
    ConversationNotFound,
    MessageNotFound,
    NoteNotFound,
    ProjectNotFound,
    SummaryNotFound,
)


def _list_message_texts(message: Message) -> Iterator[Json]:
    """Yield the texts of a message. Those of its receipt stand under names that are no secrets."""
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


def _list_scope_texts(scope: Scope) -> Iterator[str]:
    """Yield the texts of a scope, without those that stand in its source anyway."""
    source = scope.source
    yield source
    for text in (scope.signature, scope.docstring):
        if text not in source:
            yield text
    if not scope.name.isidentifier():
        yield scope.name
        yield scope.qualified_name


_LINES = {"start_line": "startLine", "end_line": "endLine"}

CONVERSATION = Kind[Conversation, ConversationFilter](
    "conversation",
    Conversation,
    texts=("title", "summary", "tags", "agent_version", "git_branch"),
    derived=("author_key", "private_to"),
    milliseconds={"updated_ms": "updated_at"},
    ids=("cwd", "project_path", "project_id"),
    missing=ConversationNotFound,
    where={
        "prefix": ("starts", "uuid"),
        "cwd": ("is", "cwd"),
        "project_ids": ("any", "project_id"),
        "status": ("is", "status"),
        "agent": ("is", "agent"),
        "parent_id": ("is", "parent_id"),
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
        "conversation_id": ("is", "conversation_id"),
        "conversation_ids": ("any", "conversation_id"),
        "level": ("is", "level"),
        "first_turn": ("from", "start_turn_index"),
        "since": ("from", "created_ms"),
        "until": ("until", "created_ms"),
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
        "prefix": ("starts", "uuid"),
        "project_ids": ("any", "project_id"),
        "conversation_id": ("is", "conversation_id"),
        "tags": ("shares", "tags"),
        "text": ("is", "text"),
        "since": ("from", "created_ms"),
        "until": ("until", "created_ms"),
    },
    special=("with_superseded",),
    order=("-created_ms", "uuid"),
    words=format_note_for_search,
)
TURN = Kind[StoredTurn, MemoryFilter](  # what a turn is found by; its facts are those of messages
    "turn",
    StoredTurn,
    owner=("message_id", "project_id", "private_to", "turn_index", "started_ms"),
    without=("messages",),
    key="message_id",
    missing=MessageNotFound,
    where={
        "project_ids": ("any", "project_id"),
        "since": ("from", "started_ms"),
        "until": ("until", "started_ms"),
    },
    special=("conversation_id",),
    order=("started_ms",),
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
FILE = Kind[File, None](
    "file", File, texts=("imports",), owner=("project_id",), derived=("name",), ids=("path",)
)
SCOPE = Kind[Scope, None](
    "scope",
    Scope,
    texts=("source", "docstring", "signature", "name", "qualified_name"),
    look=_list_scope_texts,
    owner=("file_id",),
    named=_LINES,
)
REFERENCE = Kind[CodeReference, None](
    "reference",
    CodeReference,
    texts=("qualified_name",),
    owner=("owner_id",),
    ids=("scope_id",),
)
FILE_MENTION = Kind[FileMention, None](
    "mention", FileMention, owner=("owner_id",), ids=("file_id",)
)
JOB = Kind[Job, None](
    "job",
    Job,
    key="key",
    texts=("payload", "error"),
    milliseconds={"run_after_ms": "run_after"},
    ids=("key", "kind"),
)
TOUCH = Kind[Touch, None]("touch", Touch)  # read from several tables; never stored as such

KINDS: dict[str, Kind[Any, Any]] = {
    kind.name: kind
    for kind in (
        *(CONVERSATION, MESSAGE, TOOL_CALL, TOOL_RESULT, SUMMARY, NOTE),
        *(CHECKOUT, PROJECT, FILE, SCOPE, REFERENCE, FILE_MENTION, JOB),
    )
}
"""All that is stored and copied, each after what it refers to."""
TIMES = frozenset[str]().union(*(kind.times for kind in KINDS.values()))
LISTS = frozenset[str]().union(*(kind.lists for kind in KINDS.values()))
FLAGS = frozenset(("summary_trimmed", "link_pending"))

SCOPE_NAME = tuple(_LINES.get(name, name) for name in ScopeName._fields)
"""The columns that name a scope."""


_TOLD = ("message", "summary", "note")
_EMBEDDED = ("turn", "conversation", "summary", "note", "scope")


def list_parts() -> list[Kind[Any, Any]]:
    """Return the kinds that belong to a conversation beside its messages, summaries and notes."""
    return [kind for kind in KINDS.values() if "conversation_id" in kind and kind.name not in _TOLD]


def list_embedded() -> list[Kind[Any, Any]]:
    """Return the kinds that have vectors."""
    more = (kind for kind in KINDS.values() if kind.words and kind.name not in _EMBEDDED)
    return [TURN, CONVERSATION, SUMMARY, NOTE, SCOPE, *more]


class EncodedMessage(NamedTuple):
    """A message without secrets, and its rows. Its place in a conversation is given later."""

    message: Message
    row: CleanRow
    calls: list[CleanRow]
    results: list[CleanRow]

    def place(self, conversation: Stored, turn_index: int, position: int) -> EncodedMessage:
        """Return it as a message of a conversation."""
        self.row.update(
            conversation_id=conversation["uuid"],
            private_to=conversation["private_to"],
            turn_index=turn_index,
            position=position,
        )
        placed = replace(self.message, turn_index=turn_index, position=position)
        return self._replace(message=placed)


def encode_message(message: Message, redactor: Redactor) -> EncodedMessage:
    """Return a message with its rows. One look at all of its texts is much cheaper than many."""
    message = redact_message(message, redactor)
    calls, results = [], []
    for position, call in enumerate(message.tool_calls):
        calls.append(TOOL_CALL.encode(call, STORED, message_id=message.uuid, position=position))
        if call.result is not None:
            results.append(encode_tool_result(call.uuid, call.result, STORED))
    return EncodedMessage(message, MESSAGE.encode(message, STORED), calls, results)


def redact_message(message: Message, redactor: Redactor) -> Message:
    """Return a message without secrets: the same object if it has none."""
    if redactor.is_clean(_list_all_texts(message)):
        return message
    calls = tuple(redact_call(call, redactor) for call in message.tool_calls)
    if any(new is not old for new, old in zip(calls, message.tool_calls, strict=True)):
        message = replace(message, tool_calls=calls)
    return MESSAGE.redact(message, redactor)


def redact_call(call: ToolCall, redactor: Redactor) -> ToolCall:
    """Return a tool call with its result without secrets: the same object if it has none."""
    result = call.result and TOOL_RESULT.redact(call.result, redactor)
    if result is not call.result:
        call = replace(call, result=result)
    return TOOL_CALL.redact(call, redactor)


def _list_all_texts(message: Message) -> Iterator[Json]:
    """Yield the texts of a message, of its calls and of their results."""
    yield from MESSAGE.list_texts(message)
    for call in message.tool_calls:
        yield from TOOL_CALL.list_texts(call)
        if call.result is not None:
            yield from TOOL_RESULT.list_texts(call.result)


def decode_tool_call(row: Stored, result: Stored | None) -> ToolCall:
    """Return a tool call with its result, if it has one."""
    return TOOL_CALL.decode(row, result=None if result is None else TOOL_RESULT.decode(result))


def find_unfinished(
    message: Message, calls: Iterable[ToolCall]
) -> list[tuple[ToolCall, ToolResult]]:
    """Return the calls of a message that have a result now and none in the store, with it."""
    waiting = {call.uuid for call in message.tool_calls if call.result is None}
    return [(call, call.result) for call in calls if call.uuid in waiting and call.result]


def encode_tool_result(call_id: str, result: ToolResult, redactor: Redactor) -> CleanRow:
    """Return the row of a tool result. Its size is that of its text unless it is given."""
    row = TOOL_RESULT.encode(result, redactor, tool_call_id=call_id)
    row["result_size_bytes"] = result.result_size_bytes or len(row["result"].encode())
    return row


class EncodedFiles(NamedTuple):
    """The rows of files and of their scopes."""

    files: list[CleanRow]
    scopes: list[CleanRow]


def encode_files(project_id: str, files: Sequence[ParsedFile], redactor: Redactor) -> EncodedFiles:
    """Return the rows of files without secrets; hashes stay those of what is on the disk."""
    encoded = EncodedFiles([], [])
    for parsed in files:
        texts = [text for scope in parsed.scopes for text in SCOPE.list_texts(scope)]
        is_clean = redactor.is_clean([*texts, *parsed.file.imports])
        chosen = STORED if is_clean else redactor  # one look at a file is much cheaper than many
        encoded.files.append(FILE.encode(parsed.file, chosen, project_id=project_id))
        encoded.scopes.extend(
            SCOPE.encode(scope, chosen, file_id=parsed.file.uuid) for scope in parsed.scopes
        )
    return encoded


def redact_relations(relations: Sequence[Relation], redactor: Redactor) -> Sequence[Relation]:
    """Return relations without secrets: the name of a library may be one, an id is none."""
    if redactor.is_clean({one.target for one in relations if one.kind == "USES_LIBRARY"}):
        return relations
    return [
        replace(one, target=redactor.redact(one.target)) if one.kind == "USES_LIBRARY" else one
        for one in relations
    ]


def redact_records(kind: str, records: Sequence[Stored], redactor: Redactor) -> list[CleanRow]:
    """Return records of an archive without secrets."""
    if kind == "relation":
        edges = [Relation(row["kind"], row["source"], row["target"]) for row in records]
        clean = redact_relations(edges, redactor)
        return [
            CleanRow({**row, "target": edge.target})
            for row, edge in zip(records, clean, strict=True)
        ]
    # What summaries mention are references. Kinds that are not declared have no text.
    declared = REFERENCE if kind == "mention" else KINDS.get(kind)
    if declared is None:
        return [CleanRow(dict(row)) for row in records]
    return [declared.clean(row, redactor) for row in records]


def redact_steps(steps: Iterable[IntakeStep], redactor: Redactor) -> list[IntakeStep]:
    """Return the steps of a transcript without secrets."""
    return [_redact_step(step, redactor) for step in steps]


def _redact_step(step: IntakeStep, redactor: Redactor) -> IntakeStep:
    if isinstance(step, NewMessage):
        message = redact_message(step.message, redactor)
        return step if message is step.message else replace(step, message=message)
    if isinstance(step, CallResult):
        call = redact_call(step.call, redactor)
        return step if call is step.call else replace(step, call=call)
    if isinstance(step, NewConversation):
        return replace(step, conversation=CONVERSATION.redact(step.conversation, redactor))
    if isinstance(step, SessionUpdate):
        names = ("title", "instead_of", "agent_version", "git_branch")
        return replace(step, **{name: redactor.redact(getattr(step, name)) for name in names})
    return step  # the others hold ids and numbers alone


def encode_file_time(time: datetime | None) -> str | None:
    """Return the time of a file as it is stored."""
    return None if time is None else format_time("file.mtime", time)


def strengthen(row: CleanRow, known: Mapping[str, TouchKind]) -> CleanRow:
    """Return a reference's row that says no less than what is known of its scope."""
    before = known.get(row["scope_id"])
    if before is None:
        return row
    return CleanRow(row | {"how": pick_strongest((row["how"], before))})


def encode_job(job: NewJob, created: datetime, owner: str | None, redactor: Redactor) -> CleanRow:
    """Return the row of an author's new job, which is due at once unless it says when."""
    run_after = created if job.run_after is None else job.run_after
    new = Job(job.key, job.kind, job.payload, "pending", 0, run_after, created)
    return JOB.encode(replace(new, owner=owner, machine=job.machine), redactor)
