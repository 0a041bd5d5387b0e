"""Redact bundle: remove the secrets from every text of a conversation."""

from __future__ import annotations

from dataclasses import replace

from ragforge.domain.conversation_bundle import ConversationBundle
from ragforge.memory.secrets.redact_data import DataRedactor


def redact_bundle(whole: ConversationBundle) -> tuple[ConversationBundle, int]:
    """Return the conversation without secrets, and how many of its texts had any.

    Vectors of such texts are removed too: they would still find the secret.
    """
    redactor = DataRedactor()
    conversation = redactor.redact_conversation(whole.conversation)
    messages = tuple(redactor.redact_message(message) for message in whole.messages)
    summaries = tuple(
        replace(
            known,
            summary=redactor.redact_summary(known.summary),
            scopes=tuple(map(redactor.redact_reference, known.scopes)),
        )
        for known in whole.summaries
    )
    references = {
        owner: tuple(map(redactor.redact_reference, found))
        for owner, found in whole.references.items()
    }
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
        references=references,
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
