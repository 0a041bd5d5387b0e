"""Conversation bundle: a conversation with everything that belongs to it, to export or import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from ragforge.domain.branches import copy_call
from ragforge.domain.code import CodeReference, FileMention
from ragforge.domain.conversations import Conversation, Message
from ragforge.domain.notes import Note
from ragforge.domain.summaries import Summary
from ragforge.domain.text import new_id
from ragforge.domain.vectors import Vector
from ragforge.records import dataclass

MAX_EXPORT_BYTES = 512 * 1024 * 1024
"""A larger file is not imported."""


@dataclass(frozen=True, slots=True)
class BranchPoint:
    """The conversation at the other end of a branch, and the message where they separate."""

    conversation_id: str
    message_id: str  # of the conversation that was branched


@dataclass(frozen=True, slots=True)
class SummaryBundle:
    """A summary with the turns it covers and the code it mentions."""

    summary: Summary
    covers: tuple[int, ...] = ()  # turn indexes; empty for an L2, which covers its parents
    files: tuple[FileMention, ...] = ()
    scopes: tuple[CodeReference, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedSession:
    """What a damaged store says of a conversation, whether or not that itself can be read."""

    project_id: str = ""
    turn_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConversationBundle:
    """A conversation with its messages, summaries, notes, references, branches and vectors.

    Messages have their turn and position and come in order; the counters follow from them.
    Summaries of level 1 come before those of level 2.
    """

    conversation: Conversation
    messages: tuple[Message, ...] = ()
    references: Mapping[str, tuple[CodeReference, ...]] = field(default_factory=dict)
    summaries: tuple[SummaryBundle, ...] = ()
    branch_of: BranchPoint | None = None
    branches: tuple[BranchPoint, ...] = ()
    vector: Vector | None = None  # of the conversation's summary
    turn_vectors: Mapping[str, Vector] = field(default_factory=dict)
    summary_vectors: Mapping[str, Vector] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()  # made in it, oldest first; they belong to its project
    note_vectors: Mapping[str, Vector] = field(default_factory=dict)
    parts: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """What else belongs to it, by the name of its kind: see `list_parts`."""
    trimmed: frozenset[str] = frozenset()  # turns and L1 whose summary was trimmed by age
    link_pending: frozenset[str] = frozenset()  # turns that are not linked to code yet
    # Turn id → the model of its vector, as it was read; what is added has its vectors instead.
    embedded_by: Mapping[str, str] = field(default_factory=dict, compare=False)


def set_counters(conversation: Conversation, messages: Sequence[Message]) -> Conversation:
    """Return the conversation with its counters set from the messages."""
    return replace(
        conversation,
        message_count=len(messages),
        turn_count=sum(message.role == "user" for message in messages),
        total_chars=sum(message.char_count for message in messages),
    )


def copy_with_new_ids(whole: ConversationBundle) -> ConversationBundle:
    """Return a copy with new ids. Branches stay with the original.

    Notes keep their ids: they belong to the project, which should not have them twice.
    """
    conversation_id = new_id()
    messages = {message.uuid: new_id() for message in whole.messages}
    summaries = {known.summary.uuid: new_id() for known in whole.summaries}
    return replace(
        whole,
        conversation=replace(whole.conversation, uuid=conversation_id),
        messages=tuple(
            replace(
                message,
                uuid=messages[message.uuid],
                process=None,
                tool_calls=tuple(copy_call(call) for call in message.tool_calls),
            )
            for message in whole.messages
        ),
        references={messages[owner]: found for owner, found in whole.references.items()},
        summaries=tuple(
            replace(known, summary=_copy_summary(known.summary, conversation_id, summaries))
            for known in whole.summaries
        ),
        branches=(),
        turn_vectors={messages[owner]: vector for owner, vector in whole.turn_vectors.items()},
        summary_vectors={
            summaries[owner]: vector for owner, vector in whole.summary_vectors.items()
        },
        notes=tuple(replace(note, conversation_id=conversation_id) for note in whole.notes),
        parts={
            name: tuple(
                replace(item, uuid=new_id(), conversation_id=conversation_id) for item in items
            )
            for name, items in whole.parts.items()
        },
        trimmed=frozenset((messages | summaries)[owner] for owner in whole.trimmed),
        link_pending=frozenset(messages[owner] for owner in whole.link_pending),
    )


def _copy_summary(summary: Summary, conversation_id: str, names: Mapping[str, str]) -> Summary:
    parents = tuple(names[parent] for parent in summary.parent_summaries)
    uuid = names[summary.uuid]
    return replace(summary, uuid=uuid, conversation_id=conversation_id, parent_summaries=parents)
