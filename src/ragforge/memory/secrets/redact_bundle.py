"""Redact bundle: remove the secrets from every text of a conversation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from ragforge.domain.conversation_bundle import ConversationBundle
from ragforge.domain.conversations import Conversation, Message, ToolCall
from ragforge.domain.notes import Note
from ragforge.domain.summaries import Summary
from ragforge.domain.text import Json
from ragforge.memory.secrets.redact import redact, redact_json

T = TypeVar("T")


def redact_bundle(whole: ConversationBundle) -> tuple[ConversationBundle, int]:
    """Return the conversation without secrets, and how many of its texts had any.

    Vectors of such texts are removed too: they would still find the secret.
    """
    redactor = _Redactor()
    conversation = redactor.redact_conversation(whole.conversation)
    messages = tuple(redactor.redact_message(message) for message in whole.messages)
    summaries = tuple(
        replace(known, summary=redactor.redact_summary(known.summary)) for known in whole.summaries
    )
    notes = tuple(redactor.redact_note(note) for note in whole.notes)
    if not redactor.changes:
        return whole, 0
    changed_turns = {
        new.turn_index for old, new in zip(whole.messages, messages, strict=True) if new is not old
    }
    turns = {m.uuid for m in messages if m.role == "user" and m.turn_index not in changed_turns}
    same = {
        known.summary.uuid
        for known, new in zip(whole.summaries, summaries, strict=True)
        if new.summary is known.summary
    }
    cleaned = replace(
        whole,
        conversation=conversation,
        messages=messages,
        summaries=summaries,
        vector=whole.vector if conversation is whole.conversation else None,
        turn_vectors={id_: v for id_, v in whole.turn_vectors.items() if id_ in turns},
        summary_vectors={id_: v for id_, v in whole.summary_vectors.items() if id_ in same},
        notes=notes,
        note_vectors={
            new.uuid: whole.note_vectors[new.uuid]
            for old, new in zip(whole.notes, notes, strict=True)
            if new is old and new.uuid in whole.note_vectors
        },
    )
    return cleaned, redactor.changes


class _Redactor:
    """Redacts texts and counts those with a secret. Without a secret an object stays the same."""

    def __init__(self) -> None:
        self.changes = 0

    def redact_conversation(self, conversation: Conversation) -> Conversation:
        return self._redact_fields(conversation, ("title", "summary"), ("tags",))

    def redact_message(self, message: Message) -> Message:
        said = self._redact_fields(message, ("content", "reasoning"))
        calls = tuple(self._redact_call(call) for call in message.tool_calls)
        receipt = self._clean(redact_json, message.receipt)
        same = all(new is old for new, old in zip(calls, message.tool_calls, strict=True))
        if same and receipt is message.receipt:
            return said
        return replace(said, tool_calls=calls, receipt=receipt)

    def redact_summary(self, summary: Summary) -> Summary:
        texts = ("conversation_summary", "actions_summary")
        lists = ("files_mentioned", "key_findings", "tools_used", "topics")
        return self._redact_fields(summary, texts, lists)

    def redact_note(self, note: Note) -> Note:
        return self._redact_fields(note, ("text",), ("tags",))

    def _redact_call(self, call: ToolCall) -> ToolCall:
        arguments = self._clean(redact_json, call.arguments)
        result = call.result
        if result is not None:
            value = self._clean(redact_json, result.result)
            result = self._redact_fields(result, ("error",))
            if value is not result.result:
                result = replace(result, result=value)
        if arguments is call.arguments and result is call.result:
            return call
        return replace(call, arguments=arguments, result=result)

    def _redact_fields(self, part: T, texts: tuple[str, ...], lists: tuple[str, ...] = ()) -> T:
        """Return a frozen object with some of its texts, and lists of texts, redacted."""
        new: dict[str, Any] = {}
        for name in texts:
            text = getattr(part, name)
            if text is not None and (clean := self._clean(redact, text)) is not text:
                new[name] = clean
        for name in lists:
            items = getattr(part, name)
            cleaned = tuple(self._clean(redact, item) for item in items)
            if cleaned != items:
                new[name] = cleaned
        return replace(part, **new) if new else part  # type: ignore[type-var]

    def _clean(self, clean: Callable[[Json], Json], value: Json) -> Json:
        result = clean(value)
        self.changes += result is not value
        return result
