"""Redact bundle: remove the secrets from every text of a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from ragforge.domain.conversation_bundle import ConversationBundle
from ragforge.domain.kinds import Redactor
from ragforge.domain.notes import Note
from ragforge.domain.rows import redact_message
from ragforge.domain.schema import CONVERSATION, KINDS, NOTE, REFERENCE, SUMMARY
from ragforge.domain.summaries import Summary
from ragforge.domain.text import Json
from ragforge.domain.vectors import Vector
from ragforge.memory.secrets.redactor import REDACTOR

Owner = TypeVar("Owner", Note, Summary)


class _Counter:
    """A redactor that counts the texts with secrets."""

    def __init__(self, inner: Redactor) -> None:
        self._inner = inner
        self.changes = 0

    def is_clean(self, values: Iterable[Json]) -> bool:
        return self._inner.is_clean(values)

    def redact(self, value: Json) -> Json:
        clean = self._inner.redact(value)
        self.changes += clean is not value
        return clean


def redact_bundle(whole: ConversationBundle) -> tuple[ConversationBundle, int]:
    """Return the conversation without secrets, and how many of its texts had any.

    Vectors of such texts are removed too: they would still find the secret.
    """
    counter = _Counter(REDACTOR)
    conversation = CONVERSATION.redact(whole.conversation, counter)
    messages = tuple(redact_message(message, counter) for message in whole.messages)
    notes = tuple(NOTE.redact(note, counter) for note in whole.notes)
    parts = {
        name: tuple(KINDS[name].redact(item, counter) for item in items)
        for name, items in whole.parts.items()
    }
    summaries = tuple(
        replace(
            known,
            summary=SUMMARY.redact(known.summary, counter),
            scopes=tuple(REFERENCE.redact(one, counter) for one in known.scopes),
        )
        for known in whole.summaries
    )
    references = {
        owner: tuple(REFERENCE.redact(one, counter) for one in found)
        for owner, found in whole.references.items()
    }
    if not counter.changes:
        return whole, 0
    cut = {m.turn_index for m, new in zip(whole.messages, messages, strict=True) if new is not m}
    turns = {message.uuid for message in messages if message.turn_index not in cut}
    same = conversation is whole.conversation
    cleaned = replace(
        whole,
        conversation=conversation,
        messages=messages,
        references=references,
        summaries=summaries,
        notes=notes,
        parts=parts,
        vector=whole.vector if same else None,
        turn_vectors={owner: v for owner, v in whole.turn_vectors.items() if owner in turns},
        summary_vectors=_keep_same(
            whole.summary_vectors,
            [known.summary for known in whole.summaries],
            [known.summary for known in summaries],
        ),
        note_vectors=_keep_same(whole.note_vectors, whole.notes, notes),
    )
    return cleaned, counter.changes


def _keep_same(
    vectors: Mapping[str, Vector], old: Sequence[Owner], new: Sequence[Owner]
) -> dict[str, Vector]:
    """Return the vectors of those that had no secrets."""
    same = {one.uuid for one, now in zip(old, new, strict=True) if now is one}
    return {owner: vector for owner, vector in vectors.items() if owner in same}
