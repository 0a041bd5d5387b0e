"""Events: what a door receives of a turn while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ragforge.domain.chat import Usage
from ragforge.domain.receipts import Receipt
from ragforge.domain.text import Json
from ragforge.domain.turns import Answer
from ragforge.records import dataclass


@dataclass(frozen=True, slots=True)
class QuestionStored:
    """The question is stored: from now on it cannot be lost."""

    conversation_id: str
    turn_index: int


@dataclass(frozen=True, slots=True)
class ContextBuilt:
    """The context was built; the receipt says what was found and used."""

    receipt: Receipt


@dataclass(frozen=True, slots=True)
class Text:
    """The next words of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The next words of the model's reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool was called."""

    id: str
    name: str
    arguments: Json
    depth: int = 0  # 1 and more: called by a sub-agent


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool has finished; `error` says why it failed."""

    id: str
    name: str
    arguments: Json
    result: Json
    success: bool
    error: str | None
    duration_ms: int
    depth: int = 0


@dataclass(frozen=True, slots=True)
class CommandPrinted:
    """What a running command of the model's has printed since the last such event."""

    text: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """A model is asked, and nothing has come yet; `problem` says why it is asked again."""

    model: str
    attempt: int = 1
    problem: str = ""
    seconds: float = 0.0  # until it is asked
    chars: int = 0  # of the request, once it is sent
    attempts: int = 0  # how often it is asked at most; 0: not known


@dataclass(frozen=True, slots=True)
class Used:
    """What models used for this turn so far, and how much of the window the last request took."""

    usage: Usage
    window_share: float | None = None  # 0..1; None: the window is not known


@dataclass(frozen=True, slots=True)
class Noticed:
    """Something that the user should know and that stops nothing, such as a dead server."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The answer is stored; nothing follows."""

    answer: Answer


Event: TypeAlias = (
    QuestionStored
    | ContextBuilt
    | Text
    | Reasoning
    | ToolStarted
    | ToolFinished
    | CommandPrinted
    | Waiting
    | Used
    | Noticed
    | Done
)
OnEvent: TypeAlias = Callable[[Event], None]


def ignore_event(event: Event) -> None:
    """Ignore an event."""
