"""Conversations: what was said and done, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Literal, TypeAlias

from ragforge.domain.authors import AGENT, Authored, Visibility
from ragforge.domain.instants import now
from ragforge.domain.text import Json, new_id, to_text
from ragforge.records import dataclass

Role: TypeAlias = Literal["user", "assistant", "system"]
ConversationStatus: TypeAlias = Literal["active", "archived"]

SHORT_ID = 8
"""How many characters of an id are shown."""
BYTES_A_TOKEN = 4
BEFORE_FIRST_TURN = -1
"""turn_index of messages that precede the first user message."""


@dataclass(frozen=True, slots=True)
class Conversation(Authored):
    """An ordered list of turns that belongs to one working directory.

    The store maintains the counters.
    """

    cwd: str
    project_path: str
    uuid: str = field(default_factory=new_id)
    title: str | None = None
    summary: str | None = None
    tags: tuple[str, ...] = ()
    status: ConversationStatus = "active"
    message_count: int = 0
    turn_count: int = 0
    total_chars: int = 0
    created_at: datetime = field(default_factory=now)
    updated_at: datetime = field(default_factory=now)
    author: str | None = None  # who began it; None: it is older than authors
    host: str | None = None  # the machine where it began
    agent: str = AGENT  # the program that answers in it
    visibility: Visibility = "shared"
    project_id: str = ""  # of the repository, wherever it lies; the path is where it lay
    agent_version: str | None = None
    agent_session: str | None = None  # what the agent itself calls it
    git_branch: str | None = None  # that was last checked out while the agent worked
    parent_id: str | None = None  # the conversation whose agent started this one

    def __post_init__(self) -> None:
        if not self.project_id:  # not recognised: it is known by its path
            object.__setattr__(self, "project_id", self.project_path)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call."""

    success: bool
    result: Json = None
    error: str | None = None
    uuid: str = field(default_factory=new_id)
    timestamp: datetime = field(default_factory=now)
    result_size_bytes: int = 0  # the true size, even where the stored result was cut


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One use of a tool by the assistant; without a result it still runs, or was interrupted.

    It failed if its result failed, whatever was given.
    """

    tool_name: str
    arguments: Json = field(default_factory=dict)
    result: ToolResult | None = None
    uuid: str = field(default_factory=new_id)
    timestamp: datetime = field(default_factory=now)
    duration_ms: int = 0
    success: bool = True
    iteration: int | None = None

    def __post_init__(self) -> None:
        if self.result is not None and not self.result.success:
            object.__setattr__(self, "success", False)


@dataclass(frozen=True, slots=True)
class Message:
    """One thing said, with the tool calls made while saying it.

    `turn_index` and `position` are assigned by the store when it is appended.
    """

    role: Role
    content: str
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    uuid: str = field(default_factory=new_id)
    timestamp: datetime = field(default_factory=now)
    token_count: int | None = None  # as counted by the provider, or estimated
    receipt: Json = None  # of the context that an answer is based on
    process: str | None = None  # of a user's message: which process answers it; not exported
    turn_index: int | None = None
    position: int | None = None
    author: str | None = None  # of a user's message
    model: str | None = None  # that said it
    usd: float | None = None  # of the request for it, where the price is known

    @property
    def char_count(self) -> int:
        """The characters that count towards budgets: the text and the results of tools."""
        if not self.tool_calls:
            return len(self.content)
        results = (call.result for call in self.tool_calls)
        return len(self.content) + sum(len(to_text(r.result)) for r in results if r is not None)


@dataclass(frozen=True, slots=True)
class MessagePlace:
    """In which conversation a message is."""

    uuid: str
    conversation_id: str


def estimate_tokens(message: Message) -> int:
    """Estimate the tokens of a message: its text, its reasoning and the arguments of its calls.

    A token counts as four bytes of UTF-8. That is right for English and close for other scripts.
    """
    said = [message.content, message.reasoning or ""]
    said += [to_text(call.arguments) for call in message.tool_calls]
    chars = sum(len(text.encode("utf-8", "surrogatepass")) for text in said)
    return -(-chars // BYTES_A_TOKEN)


@dataclass(frozen=True, slots=True)
class ConversationFilter:
    """Which conversations to find; a field that is None does not restrict."""

    cwd: str | None = None
    project_ids: Sequence[str] | None = None  # any of these
    status: ConversationStatus | None = None
    tags: tuple[str, ...] = ()  # any of these
    since: datetime | None = None  # by last activity
    until: datetime | None = None
    own: bool = (
        False  # only those that the viewer may change: their own, and those without an author
    )
    agent: str | None = None
    parent_id: str | None = None  # the conversation whose agent started them
    branch_of: str | None = None  # the conversation that they are branches of
    origin_of: str | None = None  # the branch that begins as a copy of it
    prefix: str | None = None  # how their ids begin


@dataclass(frozen=True, slots=True)
class ConversationChanges:
    """What to change about a conversation; None leaves a field as it is."""

    title: str | None = None
    summary: str | None = None
    tags: tuple[str, ...] | None = None
    status: ConversationStatus | None = None
    visibility: Visibility | None = None

    def __call__(self, conversation: Conversation) -> Conversation:
        """Return the conversation with the changes applied."""
        names = ("title", "summary", "tags", "status", "visibility")
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        return replace(conversation, **given)


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Which turns to search: those of a conversation or project, within a time; else all."""

    conversation_id: str | None = None
    project_ids: Sequence[str] | None = None  # any of these
    since: datetime | None = None
    until: datetime | None = None
