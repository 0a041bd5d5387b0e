"""The export format: a conversation as a JSON document, field by field.

docs/export-format.md is for people, docs/export-format.schema.json for programs; tests compare both
with this module. A change that old readers do not understand needs a new version.
"""

from __future__ import annotations

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
from ragforge.domain.conversations import ConversationStatus, Role
from ragforge.domain.instants import parse_instant
from ragforge.domain.projects import normalise_remote
from ragforge.domain.summaries import Level
from ragforge.domain.text import MAX_ID_CHARS, check_text
from ragforge.errors import InvalidText, InvalidTime

SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"

_LARGEST = 2**63 - 1
_HOW = "what was done with it: `edited`, `read`, `named` or `found`"


def _read_instant(value: object) -> datetime:
    try:
        return parse_instant(value if isinstance(value, str) else "")
    except (InvalidTime, OverflowError) as error:
        raise PydanticCustomError(
            "instant",
            "Input should be a moment with an offset, such as 2025-12-09T14:30:00.123+01:00",
        ) from error


def _read_text(value: str) -> str:
    try:
        check_text("", value)
    except InvalidText as error:
        raise PydanticCustomError(
            "unicode",
            "Input should be valid Unicode; half a surrogate pair stands at character {position}",
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

    uuid: Id = Field(description="its id")
    title: UnicodeText | None = Field(description="its name; null while it has none")
    summary: UnicodeText | None = Field(
        description="what it is about, in short; null while there is none"
    )
    tags: list[UnicodeText] = Field(description="what the user marked it with")
    status: ConversationStatus = Field(description="`active` or `archived`")
    cwd: Id = Field(description="the working directory it belongs to, absolute")
    project_path: Id = Field(description="the project that directory belongs to, absolute")
    created_at: Instant = Field(description="when it began")
    updated_at: Instant = Field(description="when something was last said in it")
    author: UnicodeText | None = Field(description="who began it; null if that is not known")
    host: UnicodeText | None = Field(description="the machine where it began; null if not known")
    agent: UnicodeText = Field(description="the program that answers in it, such as `ragforge`")
    agent_version: UnicodeText | None = Field(description="its version; null if not known")
    agent_session: UnicodeText | None = Field(
        description="what that program calls the session; null for one of RagForge's own"
    )
    git_branch: UnicodeText | None = Field(
        description="the branch that was checked out when it was last active; null if not known"
    )
    parent_id: Id | None = Field(
        description="the conversation whose agent started this one; null if none did"
    )


class ReferencePart(_Part):
    """What was done with code, and what it looked like that day."""

    scope_id: Id = Field(description="the id of the scope; the scope itself may be gone")
    file: UnicodeText = Field(description="its file, relative to the project, with `/`")
    qualified_name: UnicodeText = Field(description="its name, with those it stands in")
    hash: UnicodeText = Field(description="the hash of its source that day")
    how: TouchKind = Field(description=_HOW)


class FileMentionPart(_Part):
    """A file that a summary mentions, with its hash of that day."""

    file_id: Id = Field(description="the id of the file; the file itself may be gone")
    path: UnicodeText = Field(description="its path, relative to the project, with `/`")
    hash: UnicodeText = Field(description="the hash of its content that day")
    how: TouchKind = Field(description=_HOW)


class ToolResultPart(_Part):
    """What a tool gave back."""

    uuid: Id = Field(description="its id")
    success: bool = Field(description="whether the tool did what was asked")
    result: Any = Field(description="what it returned: any JSON")
    error: UnicodeText | None = Field(description="what went wrong; null if nothing did")
    timestamp: Instant = Field(description="when it came")
    result_size_bytes: Count = Field(description="its true size, even where `result` was cut")


class ToolCallPart(_Part):
    """One use of a tool."""

    uuid: Id = Field(description="its id")
    tool_name: UnicodeText = Field(description="the name of the tool")
    arguments: Any = Field(description="what it was given: any JSON")
    timestamp: Instant = Field(description="when it began")
    duration_ms: Count = Field(description="how long it took")
    success: bool = Field(description="whether it succeeded")
    iteration: Count | None = Field(description="in which round of tools it was made, if known")
    result: ToolResultPart | None = Field(description="its result; null: it was interrupted")


class MessagePart(_Part):
    """One thing said."""

    uuid: Id = Field(description="its id; that of a user's message is the id of its turn as well")
    role: Role = Field(description="`user`, `assistant` or `system`")
    content: UnicodeText = Field(description="what was said")
    reasoning: UnicodeText | None = Field(description="what a model thought before it answered")
    timestamp: Instant = Field(description="when it was said")
    token_count: Count | None = Field(
        description="how many tokens it has, counted or estimated, if known"
    )
    receipt: Any = Field(description="the account of the context that an answer rests on, or null")
    turn_index: TurnIndex = Field(
        description="its turn; -1: before the first. Deleted turns leave gaps"
    )
    position: Count = Field(description="its place; grows from message to message")
    author: UnicodeText | None = Field(description="a user's message: who wrote it; else null")
    model: UnicodeText | None = Field(description="an answer: the model that said it, if known")
    usd: Price | None = Field(description="an answer: what it cost in US dollars, if known")
    summary_trimmed: bool = Field(
        description="a user's message: whether the summary of its turn was trimmed by age"
    )
    link_pending: bool = Field(
        description="a user's message: whether the links of its turn to code are still to be made"
    )
    tool_calls: list[ToolCallPart] = Field(description="the tools used while saying it, in order")
    references: list[ReferencePart] = Field(description="the code it had to do with")


class SummaryPart(_Part):
    """What a stretch of the conversation was about."""

    uuid: Id = Field(description="its id")
    level: Annotated[Level, _WHOLE] = Field(description="1: of turns; 2: of summaries of level 1")
    conversation_summary: UnicodeText = Field(description="what was said")
    actions_summary: UnicodeText = Field(description="what was done")
    files_mentioned: list[UnicodeText] = Field(description="files it names, as it names them")
    key_findings: list[UnicodeText] = Field(description="what was found out")
    tools_used: list[UnicodeText] = Field(description="names of tools")
    topics: list[UnicodeText] = Field(description="what it is about, in single words")
    start_turn_index: Count = Field(description="its first turn")
    end_turn_index: Count = Field(description="its last turn, included")
    char_range_start: Count = Field(description="where it starts in the raw conversation")
    char_range_end: Count = Field(description="where it ends in the raw conversation")
    parent_summaries: list[Id] = Field(description="level 2: the summaries it was made from")
    covers: list[Count] = Field(description="level 1: the turns it stands for, by index")
    summary_trimmed: bool = Field(
        description="level 1: whether the summary it went into was trimmed by age"
    )
    made_by: UnicodeText = Field(
        description="the model that wrote it, or the method without a model"
    )
    created_at: Instant = Field(description="when it was made")
    read_at: Instant | None = Field(description="when somebody was first shown it; null: not yet")
    files: list[FileMentionPart] = Field(description="the files of the project it mentions")
    scopes: list[ReferencePart] = Field(description="the scopes it mentions")


class BranchPart(_Part):
    """The other end of a branch."""

    conversation_id: Id = Field(description="the other conversation")
    message_id: Id = Field(
        description="the last message that both share, by its id in the conversation branched from"
    )


class NotePart(_Part):
    """What somebody wanted remembered in the conversation. It belongs to its project."""

    uuid: Id = Field(description="its id")
    text: UnicodeText = Field(description="what is to be remembered")
    tags: list[UnicodeText] = Field(description="what it is marked with")
    supersedes: Id | None = Field(
        description="the note in whose place it stands; that one may be in no document"
    )
    created_at: Instant = Field(description="when it was made")
    author: UnicodeText | None = Field(description="who wanted it remembered; null if not known")


class EmbeddingPart(_Part):
    """A vector. Without any, they are made again after the import."""

    owner: Literal["conversation", "turn", "summary", "note"] = Field(description="whose it is")
    owner_id: Id = Field(description="the id of the conversation, user message, summary or note")
    model: Annotated[str, Field(min_length=1), _UNICODE] = Field(
        description="the model that made it"
    )
    data: UnicodeText = Field(description="its numbers: little-endian float32, base64")


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

    remote: Annotated[Remote, AfterValidator(_read_remote)] | None = Field(
        description="its address, such as `github.com/pallets/flask`; null if it has none"
    )
    roots: list[Commit] = Field(
        max_length=100, description="its commits without parents, sorted; none of a shallow clone"
    )


class ExportedConversation(_Part):
    """The document."""

    format: Literal["ragforge.conversation"] = Field(description="says what this is")
    version: Annotated[Literal[5], _WHOLE] = Field(description="the version of the format")
    conversation: ConversationPart = Field(description="what the conversation is")
    repository: RepositoryPart | None = Field(
        default=None, description="the repository of its project; missing where there is none"
    )
    messages: list[MessagePart] = Field(description="everything said, in order")
    summaries: list[SummaryPart] = Field(description="summaries, level 1 first")
    branch_of: BranchPart | None = Field(description="where it was branched from; null: nowhere")
    branches: list[BranchPart] = Field(description="the conversations branched from it")
    notes: list[NotePart] = Field(
        default=[], description="what was to be remembered; missing where there is nothing"
    )
    parts: dict[str, list[dict[str, Any]]] = Field(
        default={},
        description="what else belongs to it, by the name of its kind; missing where there is none",
    )
    embeddings: list[EmbeddingPart] = Field(
        default=[], description="vectors; may be missing altogether"
    )


PARTS: tuple[type[BaseModel], ...] = (
    ExportedConversation,
    ConversationPart,
    RepositoryPart,
    MessagePart,
    ToolCallPart,
    ToolResultPart,
    SummaryPart,
    ReferencePart,
    FileMentionPart,
    BranchPart,
    NotePart,
    EmbeddingPart,
)
"""Every part of a document, from the outside in."""


def build_json_schema() -> dict[str, Any]:
    """Return the format as a JSON Schema."""
    return {"$schema": SCHEMA_DIALECT, **ExportedConversation.model_json_schema()}
