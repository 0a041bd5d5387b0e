"""The export format: a conversation as a JSON document, field by field.

docs/export-format.md says what each field means, docs/export-format.schema.json is for programs.
Tests compare both with this module. A change that old readers do not understand is a new version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from ragforge.domain.code import TouchKind
from ragforge.domain.conversations import AGENT, ConversationStatus, Role
from ragforge.domain.instants import parse_instant
from ragforge.domain.projects import normalise_remote
from ragforge.domain.summaries import Level
from ragforge.domain.text import MAX_ID_CHARS, Json, check_text
from ragforge.errors import InvalidText, InvalidTime

_LARGEST = 2**63 - 1


_ADDED: Mapping[int, Mapping[str, Mapping[str, Json]]] = {
    2: {
        "conversation": {"author": None, "host": None, "agent": AGENT},
        "messages": {"author": None},
        "notes": {"author": None},
    },
    3: {
        "conversation": dict.fromkeys(
            ("agent_version", "agent_session", "git_branch", "parent_id")
        ),
        "messages": {"model": None},
    },
    4: {"messages": {"usd": None}},
    5: {"notes": {"is_rule": False, "corrects": [], "keeps": []}},
}
"""The fields that parts of a document got after a version, with what they say of an older one."""


def _read_instant(value: object) -> datetime:
    try:
        return parse_instant(value if isinstance(value, str) else "")
    except (InvalidTime, OverflowError) as error:
        raise PydanticCustomError(
            "instant",
            "Input should be a time with an offset, such as 2025-12-09T14:30:00.123+01:00",
        ) from error


def _read_text(value: str) -> str:
    try:
        check_text("", value)
    except InvalidText as error:
        raise PydanticCustomError(
            "unicode",
            "Input should be valid Unicode; half of a surrogate pair at character {position}",
            {"position": error.position},
        ) from error
    return value


def _read_whole(value: object) -> object:
    """Refuse what only equals a whole number: true and 1.0."""
    return value if type(value) is int else None


_WHOLE = BeforeValidator(_read_whole)

_UNICODE = AfterValidator(_read_text)

UnicodeText: TypeAlias = Annotated[str, _UNICODE]
Id: TypeAlias = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARS), _UNICODE]
Count: TypeAlias = Annotated[int, Field(ge=0, le=_LARGEST)]
Price: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]
TurnIndex: TypeAlias = Annotated[int, Field(ge=-1, le=_LARGEST)]
Instant: TypeAlias = Annotated[
    datetime,
    PlainValidator(_read_instant),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class ConversationPart(_Part):
    """What the conversation is. Its counters are not written: they follow from its messages."""

    uuid: Id
    title: UnicodeText | None
    summary: UnicodeText | None
    tags: list[UnicodeText]
    status: ConversationStatus
    cwd: Id
    project_path: Id
    created_at: Instant
    updated_at: Instant
    author: UnicodeText | None
    host: UnicodeText | None
    agent: UnicodeText
    agent_version: UnicodeText | None
    agent_session: UnicodeText | None
    git_branch: UnicodeText | None
    parent_id: Id | None


class ReferencePart(_Part):
    """What was done with code, and what it looked like that day."""

    scope_id: Id
    file: UnicodeText
    qualified_name: UnicodeText
    hash: UnicodeText
    how: TouchKind


class FileMentionPart(_Part):
    """A file that a summary mentions, with its hash of that day."""

    file_id: Id
    path: UnicodeText
    hash: UnicodeText
    how: TouchKind


class ToolResultPart(_Part):
    """What a tool returned."""

    uuid: Id
    success: bool
    result: Any
    error: UnicodeText | None
    timestamp: Instant
    result_size_bytes: Count


class ToolCallPart(_Part):
    """One use of a tool."""

    uuid: Id
    tool_name: UnicodeText
    arguments: Any
    timestamp: Instant
    duration_ms: Count
    success: bool
    iteration: Count | None
    result: ToolResultPart | None


class MessagePart(_Part):
    """One thing said."""

    uuid: Id
    role: Role
    content: UnicodeText
    reasoning: UnicodeText | None
    timestamp: Instant
    token_count: Count | None
    receipt: Any
    turn_index: TurnIndex
    position: Count
    author: UnicodeText | None
    model: UnicodeText | None
    usd: Price | None
    summary_trimmed: bool
    link_pending: bool
    tool_calls: list[ToolCallPart]
    references: list[ReferencePart]


class SummaryPart(_Part):
    """What a stretch of the conversation was about."""

    uuid: Id
    level: Annotated[Level, _WHOLE]
    conversation_summary: UnicodeText
    actions_summary: UnicodeText
    files_mentioned: list[UnicodeText]
    key_findings: list[UnicodeText]
    tools_used: list[UnicodeText]
    topics: list[UnicodeText]
    start_turn_index: Count
    end_turn_index: Count
    char_range_start: Count
    char_range_end: Count
    parent_summaries: list[Id]
    covers: list[Count]
    summary_trimmed: bool
    made_by: UnicodeText
    created_at: Instant
    read_at: Instant | None
    files: list[FileMentionPart]
    scopes: list[ReferencePart]


class BranchPart(_Part):
    """The other end of a branch."""

    conversation_id: Id
    message_id: Id


class NotePart(_Part):
    """A note that was made in the conversation. It belongs to its project."""

    uuid: Id
    text: UnicodeText
    tags: list[UnicodeText]
    supersedes: Id | None
    created_at: Instant
    author: UnicodeText | None
    is_rule: bool
    corrects: list[Id]
    keeps: list[Id]


class EmbeddingPart(_Part):
    """A vector. Without any, they are made again after the import."""

    owner: Literal["conversation", "turn", "passage", "summary", "note"]
    owner_id: Id
    model: Annotated[str, Field(min_length=1), _UNICODE]
    data: UnicodeText


def _read_remote(value: str) -> str:
    if normalise_remote(f"https://{value}") != value:
        raise PydanticCustomError(
            "remote",
            "Input should be the address of a repository as host/path, without a scheme, a user "
            "and .git, such as github.com/pallets/flask",
        )
    return value


Remote: TypeAlias = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARS), _UNICODE]
Commit: TypeAlias = Annotated[str, Field(pattern="^([0-9a-f]{40}|[0-9a-f]{64})$")]


class RepositoryPart(_Part):
    """What the repository of its project is known by, wherever it lies."""

    remote: Annotated[Remote, AfterValidator(_read_remote)] | None
    roots: list[Commit] = Field(max_length=100)


class ExportedConversation(_Part):
    """The document."""

    format: Literal["ragforge.conversation"]
    version: Annotated[Literal[6], _WHOLE]
    conversation: ConversationPart
    repository: RepositoryPart | None = None
    messages: list[MessagePart]
    summaries: list[SummaryPart]
    branch_of: BranchPart | None
    branches: list[BranchPart]
    notes: list[NotePart] = []
    parts: dict[str, list[dict[str, Any]]] = {}
    embeddings: list[EmbeddingPart] = []


def upgrade_document(document: dict[str, Json]) -> dict[str, Json]:
    """Return a copy of a document with the fields that its version did not have yet."""
    version = document.get("version")
    if type(version) is not int:
        return document
    if version == 1:
        document, version = _upgrade_first(document), 2
    while version in _ADDED:
        for name, fields in _ADDED[version].items():
            if name in document:
                document = document | {name: _add(document[name], fields)}
        version += 1
        document = document | {"version": version}
    return document


def _upgrade_first(document: dict[str, Json]) -> dict[str, Json]:
    messages = document.get("messages")
    linked = _find_linked_turns(messages)

    def change(message: dict[str, Json]) -> dict[str, Json]:
        # Version 1 does not say what tools did with code; `found`, the weakest, is never wrong.
        is_said = not message.get("tool_calls") and message.get("role") != "system"
        how = "named" if is_said else "found"
        waits = message.get("role") == "user" and repr(message.get("turn_index")) not in linked
        flags = {"summary_trimmed": False, "link_pending": waits}
        return _add_how(message, how, "references") | flags

    return {
        **document,
        "messages": _change_each(messages, change),
        "summaries": _change_each(document.get("summaries"), _upgrade_summary),
    }


def _find_linked_turns(messages: Json) -> set[str]:
    """Return the turns with references, as text: in an invalid document one may be a list."""
    found = messages if isinstance(messages, list) else []
    linked = (m for m in found if isinstance(m, dict) and m.get("references"))
    return {repr(message.get("turn_index")) for message in linked}


def _upgrade_summary(summary: dict[str, Json]) -> dict[str, Json]:
    new = {"summary_trimmed": False, "read_at": None}
    return _add_how(summary, "named", "files", "scopes") | new


def _add_how(part: dict[str, Json], how: str, *names: str) -> dict[str, Json]:
    given = {name: part[name] for name in names if name in part}
    return part | {
        name: _change_each(found, lambda one: {**one, "how": how}) for name, found in given.items()
    }


def _add(parts: Json, fields: Mapping[str, Json]) -> Json:
    return _change_each(parts, lambda one: {**one, **fields})


def _change_each(parts: Json, change: Callable[[dict[str, Json]], dict[str, Json]]) -> Json:
    """Return the parts of a list, or one part, changed."""
    if isinstance(parts, list):
        return [change(part) if isinstance(part, dict) else part for part in parts]
    return change(parts) if isinstance(parts, dict) else parts
