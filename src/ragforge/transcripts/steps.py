"""Steps: what an importer stores, one after the other."""

from __future__ import annotations

from datetime import datetime
from typing import TypeAlias

from ragforge.domain.conversations import Message, ToolCall
from ragforge.records import dataclass
from ragforge.transcripts.record import SessionFacts


@dataclass(frozen=True, slots=True)
class Begin:
    """A conversation begins, or branches off after a message of another one."""

    conversation_id: str
    session: str
    at: datetime
    after: str | None = None  # the message


@dataclass(frozen=True, slots=True)
class Add:
    """A message is added at the end of a conversation. A stored one is left as it is."""

    conversation_id: str
    message: Message


@dataclass(frozen=True, slots=True)
class Finish:
    """A call of a stored message gets its result. A call that has one keeps it.

    The call has its id and its result, whether it succeeded and how long it took; its name and
    arguments are stored already.
    """

    message_id: str
    call: ToolCall


@dataclass(frozen=True, slots=True)
class Retract:
    """The agent took a stored answer back: its text goes, the message keeps its place.

    It was said again in other words, or by another model. Both would count twice in a search.
    """

    message_id: str


@dataclass(frozen=True, slots=True)
class Count:
    """The agent said afterwards how many tokens a stored message took."""

    message_id: str
    tokens: int


Step: TypeAlias = Begin | Add | Finish | Retract | Count | SessionFacts
