"""Record: an entry of an agent's transcript, in a form that is the same for all agents."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, Literal, TypeAlias

from ragforge.domain.text import Json
from ragforge.records import dataclass

Speaker: TypeAlias = Literal["user", "assistant"]

ROOT = ""
"""The parent of a record that follows no other: the first of a session, or of a new start in it."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the assistant."""

    id: str
    name: str
    arguments: Json = None


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """A file that a call wrote, with its content if the transcript has it."""

    path: str
    before: str | None = None  # hashes of the content, as in `File.hash`
    after: str | None = None
    diff: str | None = None  # unified, without the heads


@dataclass(frozen=True, slots=True)
class RecordedResult:
    """The result of a call; it may come before the call, or without one."""

    call_id: str
    success: bool = True
    output: Json = None
    error: str | None = None
    duration_ms: int = 0
    changes: tuple[RecordedChange, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """Something said or done, or only a link in the chain: then it has no speaker.

    Ids are the agent's own, or made from what is said, so that a record that is read again, or
    is in a second file, is recognised.
    """

    session: str
    id: str
    parent: str | None = None  # None: it follows the record before it
    at: datetime | None = None
    speaker: Speaker | None = None
    text: str = ""
    reasoning: str | None = None
    calls: tuple[Call, ...] = ()
    results: tuple[RecordedResult, ...] = ()
    model: str | None = None
    tokens: int | None = None  # without a speaker: of the message with this id
    retracts: tuple[str, ...] = ()  # answers that the agent retracted


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What a transcript says about its session; None leaves a field as it is."""

    session: str
    cwd: str | None = None
    branch: str | None = None
    version: str | None = None
    title: str | None = None
    parent: str | None = None  # the session that started it, or that it was forked from
    is_subagent: bool = False
    remote: str | None = None  # the address of its repository


@dataclass(frozen=True, slots=True)
class RecordedUsage:
    """What requests to a model took, as a transcript says: usually one request."""

    session: str
    id: str  # of the request: the same in each line about it, and in each copy
    record: str  # a record of the conversation that it belongs to
    input_tokens: int  # all of them
    output_tokens: int  # with those of the reasoning
    cached_tokens: int = 0  # of the input, read from the provider's cache
    written_tokens: int = 0  # of the input, written to the provider's cache
    requests: int = 1
    usd: float | None = None
    model: str | None = None
    at: datetime | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was counted: an agent may write zeros before an answer ends."""
        return not (self.input_tokens or self.output_tokens)


Entry: TypeAlias = Record | SessionFacts | RecordedUsage


def add_answer(
    link: Record, text: str, reasoning: str | None, calls: tuple[Call, ...], **more: Any
) -> Record:
    """Return a link as the assistant's message; the link itself if the assistant says nothing."""
    if not (text or reasoning or calls):
        return link
    said = {"text": text, "reasoning": reasoning, "calls": calls, **more}
    return replace(link, speaker="assistant", **said)
