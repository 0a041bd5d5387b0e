"""Conversations: what was said and done, by whom and in which order, and copies for branches."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Literal, TypeAlias

from ragforge.domain.instants import now
from ragforge.domain.text import Json, name_id, new_id, to_text
from ragforge.errors import InputError
from ragforge.records import dataclass

Visibility: TypeAlias = Literal["private", "shared"]
"""`private`: only its author sees it. `shared`: all users of the store."""

AGENT = "ragforge"
"""The name of our agent. Conversations of other agents are imported."""

_MAIL = re.compile(r"<\s*([^<>\s]+@[^<>\s]+)\s*>\s*$")
Role: TypeAlias = Literal["user", "assistant", "system"]
ConversationStatus: TypeAlias = Literal["active", "archived"]

SHORT_ID = 8
"""How many characters of an id are shown."""
BYTES_A_TOKEN = 4
BEFORE_FIRST_TURN = -1
"""turn_index of messages that precede the first user message."""

MakeId: TypeAlias = Callable[[str], str]
"""Returns the id of a copy, given that of the original."""
_COPIES = "0d8f7c51-6b0e-5a0b-8f0e-3c7de1a4b9f2"


@dataclass(frozen=True, slots=True)
class Identity:
    """The user of a store, their machine, and the default visibility."""

    author: str  # such as `Ann <ann@example.org>`
    host: str
    visibility: Visibility = "shared"

    @property
    def key(self) -> str:
        """The key by which authors are compared."""
        return make_author_key(self.author) or ""


class Authored:
    """Data with an author, and who may see it: the base of classes with these two fields."""

    __slots__ = ()
    author: str | None
    visibility: Visibility

    @property
    def author_key(self) -> str | None:
        """What its author is compared by."""
        return make_author_key(self.author)

    @property
    def private_to(self) -> str | None:
        """The key of the only author who sees it; None: everybody does."""
        return make_private_key(self.author, self.visibility)


def make_author_key(author: str | None) -> str | None:
    """Return what authors are compared by: the mail address if there is one, without its case.

    A name is written in several ways, and a mail address in one. None if there is no author.
    """
    if author is None or not (text := " ".join(author.split())):
        return None
    found = _MAIL.search(text)
    return (found[1] if found else text).casefold()


def name_author(author: str) -> str:
    """Return the name of an author without the mail address, or the address if there is no name."""
    return _MAIL.sub("", author).strip() or author.strip("<> ")


def name_other(author: str | None, viewer: str | None) -> str:
    """Return the name of an author; empty for none, and for the viewer, given by the key."""
    if author is None or make_author_key(author) == viewer:
        return ""
    return name_author(author)


def name_other_agent(agent: str) -> str:
    """Return the name of an agent; empty for RagForge itself."""
    return "" if agent == AGENT else agent


def make_private_key(author: str | None, visibility: Visibility) -> str | None:
    """Return the key of the only author who sees something, or None if everybody does.

    Raises InputError for what is private and has no author: no one would see it.
    """
    if visibility == "shared":
        return None
    if (key := make_author_key(author)) is None:
        raise InputError("Only what has an author can be private, and this has none.")
    return key


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


@dataclass(frozen=True, slots=True)
class CopiedTurns:
    """A branch of an imported session that begins with copies of what it could share."""

    branch: str
    first_other: int  # the first turn that is not a copy
    goes_on: str | None  # the message after which the branch continues a turn of its origin


def make_new(_: str) -> str:
    """Return a fresh id for a copy."""
    return new_id()


def name_copies(branch_id: str) -> MakeId:
    """Return what gives copies in a branch ids that are the same whenever it is made."""
    return lambda original: name_id(f"{branch_id}\0{original}", _COPIES)


def copy_messages(originals: Sequence[Message], make_id: MakeId = make_new) -> list[Message]:
    """Return copies with other ids. Turns are renumbered: deleted ones may have left gaps."""
    turns = [message.turn_index for message in originals if message.role == "user"]
    renumbered = {old: new for new, old in enumerate(turns)}
    renumbered[BEFORE_FIRST_TURN] = BEFORE_FIRST_TURN
    return [
        replace(
            message,
            uuid=make_id(message.uuid),
            process=None,  # no process is answering the copy
            turn_index=renumbered.get(message.turn_index),
            tool_calls=tuple(copy_call(call, make_id) for call in message.tool_calls),
        )
        for message in originals
    ]


def copy_turn(originals: Sequence[Message], branch_id: str) -> list[Message]:
    """Return copies for a branch that keep their turn and their places in it."""
    copies = copy_messages(originals, name_copies(branch_id))
    return [
        replace(copy, turn_index=one.turn_index, position=one.position)
        for copy, one in zip(copies, originals, strict=True)
    ]


def copy_call(call: ToolCall, make_id: MakeId = make_new) -> ToolCall:
    """Return a copy of a call and its result with other ids."""
    result = None
    if call.result is not None:
        result = replace(call.result, uuid=make_id(call.result.uuid))
    return replace(call, uuid=make_id(call.uuid), result=result)
