"""Transcripts: imported sessions of other agents, and how far each file was read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import TypeAlias

from ragforge.domain.chat import UsageRecord
from ragforge.domain.conversations import Conversation, Message, ToolCall
from ragforge.domain.text import Json
from ragforge.records import dataclass

FORGOTTEN = ""
"""The conversation id of a message that must not be stored again."""


@dataclass(frozen=True, slots=True)
class TranscriptCursor:
    """How far a transcript was imported, on the machine where it is."""

    agent: str
    host: str
    path: str
    stamp: str = ""  # of the completely read file; empty until then
    state: Json = None  # what its reader needs to continue
    revision: int = 0  # how often it was moved; 0: nothing was imported yet


@dataclass(frozen=True, slots=True)
class NewConversation:
    """A conversation begins, or branches off after a message of another one."""

    conversation: Conversation
    after: str | None = None


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message is added at the end of a conversation."""

    conversation_id: str
    message: Message


@dataclass(frozen=True, slots=True)
class CallResult:
    """A call of a stored message gets its result."""

    message_id: str
    call: ToolCall


@dataclass(frozen=True, slots=True)
class RetractedMessage:
    """The agent retracted an answer: its text is removed, the message keeps its place.

    It was said again in other words, or by another model. Both would count twice in a search.
    """

    message_id: str


@dataclass(frozen=True, slots=True)
class TokenCount:
    """The agent reported the tokens of a stored message."""

    message_id: str
    tokens: int


@dataclass(frozen=True, slots=True)
class SessionUpdate:
    """What an agent changed about a session; None leaves a field as it is."""

    conversation_id: str
    agent_version: str | None = None
    git_branch: str | None = None
    title: str | None = None
    instead_of: str | None = None  # only this title, or none, is replaced: users rename sessions


@dataclass(frozen=True, slots=True)
class ReportedUsage:
    """The agent reported what a request took. Of several reports the largest is kept."""

    record: UsageRecord


IntakeStep: TypeAlias = (
    NewConversation
    | NewMessage
    | CallResult
    | RetractedMessage
    | TokenCount
    | SessionUpdate
    | ReportedUsage
)


@dataclass(frozen=True, slots=True)
class StoredIds:
    """The stored ones of some ids; the others are new to the store."""

    messages: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """Message → its conversation and turn."""
    turns: Mapping[str, int] = field(default_factory=dict)
    """Conversation → its newest turn, or BEFORE_FIRST_TURN."""


def merge_results(steps: Iterable[IntakeStep]) -> list[IntakeStep]:
    """Merge the steps that change a message into the step that adds it.

    The outcome is the same, with fewer writes. A branch may copy a turn as it is at its step: what
    comes after it stays where it is.
    """
    merged: list[IntakeStep] = []
    added: dict[str, int] = {}  # message → its place
    for step in steps:
        if isinstance(step, NewConversation) and step.after is not None:
            added.clear()
        elif isinstance(step, NewMessage):
            added[step.message.uuid] = len(merged)
        elif (
            isinstance(step, CallResult | RetractedMessage | TokenCount)
            and (place := added.get(step.message_id)) is not None
        ):
            owner = merged[place]
            assert isinstance(owner, NewMessage)
            merged[place] = replace(owner, message=_change(owner.message, step))
            continue
        merged.append(step)
    return merged


def pick_usage(steps: Iterable[IntakeStep]) -> list[UsageRecord]:
    """Return what was reported, each request once: an answer is reported while it grows."""
    picked: dict[str, UsageRecord] = {}
    for step in steps:
        if isinstance(step, ReportedUsage):
            known = picked.setdefault(step.record.uuid, step.record)
            if step.record.output_tokens > known.output_tokens:
                picked[step.record.uuid] = step.record
    return list(picked.values())


def _change(message: Message, step: CallResult | RetractedMessage | TokenCount) -> Message:
    """Return the message after a step: a call that has a result keeps it."""
    if isinstance(step, TokenCount):
        return replace(message, token_count=step.tokens)
    if isinstance(step, RetractedMessage):
        return replace(message, content="", reasoning=None)
    done = step.call
    return replace(
        message,
        tool_calls=tuple(
            replace(call, result=done.result, success=done.success, duration_ms=done.duration_ms)
            if call.uuid == done.uuid and call.result is None
            else call
            for call in message.tool_calls
        ),
    )


class StaleView(Exception):
    """The steps to store were made from an outdated view of the store."""
