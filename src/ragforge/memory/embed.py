"""Embed: give turns, summaries and notes their vectors, once each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from ragforge.domain.notes import format_note_for_search
from ragforge.domain.summaries import format_summary_for_embedding
from ragforge.domain.turns import EMBEDDED_CHARS, format_turn_for_embedding, group_into_turns
from ragforge.domain.work import NewJob
from ragforge.errors import SummaryNotFound
from ragforge.ports.conversations import ConversationStore
from ragforge.ports.embedder import Embedder
from ragforge.ports.notes import NoteStore
from ragforge.ports.store import Store
from ragforge.ports.summaries import SummaryStore

EMBED_JOB = "embed_turns"
EMBED_NOTES_JOB = "embed_notes"
MISSING_JOB = "embed_missing"
BATCH = 256


async def embed_turns(store: ConversationStore, embedder: Embedder, turn_ids: Sequence[str]) -> int:
    """Embed turns and return how many have a vector now; turns that are gone are left out."""
    found = await store.turns(turn_ids)
    turns = [turn for messages in found.values() for turn in group_into_turns(messages)]
    vectors = await embedder.embed([format_turn_for_embedding(turn) for turn in turns])
    made = {
        turn.uuid: vector for turn, vector in zip(turns, vectors, strict=True) if vector is not None
    }
    if made:
        await store.embed_turns(made)
    return len(made)


async def embed_summaries(store: SummaryStore, embedder: Embedder, ids: Sequence[str]) -> int:
    """Embed summaries and return how many have a vector now; those that are gone are left out."""
    summaries = []
    for summary_id in ids:
        try:
            summaries.append(await store.get(summary_id))
        except SummaryNotFound:
            continue
    vectors = await embedder.embed([format_summary_for_embedding(one) for one in summaries])
    pairs = zip(summaries, vectors, strict=True)
    made = {summary.uuid: vector for summary, vector in pairs if vector is not None}
    if made:
        await store.embed(made)
    return len(made)


async def embed_notes(store: NoteStore, embedder: Embedder, ids: Sequence[str]) -> int:
    """Embed notes and return how many have a vector now; those that are gone are left out."""
    notes = list((await store.with_ids(ids)).values())
    vectors = await embedder.embed(
        [format_note_for_search(note)[:EMBEDDED_CHARS] for note in notes]
    )
    pairs = zip(notes, vectors, strict=True)
    made = {note.uuid: vector for note, vector in pairs if vector is not None}
    if made:
        await store.embed(made)
    return len(made)


async def enqueue_missing(store: Store, embedder: Embedder) -> None:
    """Queue the embedding of what has no vector of this model, if there is any.

    What is missing names the job, so that one that failed for good is tried anew only once
    something has changed, or is revived.
    """
    missing, every = await store.conversations.count_turns_to_embed(embedder.name)
    others = await store.summaries.to_embed(embedder.name, 1)
    others += await store.notes.to_embed(embedder.name, 1)
    if missing or others:
        key = f"embed-missing:{embedder.name}:{missing}-of-{every}:{''.join(others)}"
        if not await store.jobs.enqueue([NewJob(key, MISSING_JOB)]):
            await store.jobs.revive(key)


async def embed_missing(
    store: Store, embedder: Embedder, on_progress: Callable[[int], None] = lambda _: None
) -> None:
    """Embed all that has no vector of this model: after a new model was chosen.

    It can be broken off at any point; what was embedded stays. Tells how many turns each
    step has dealt with.
    """

    async def some_turns(ids: Sequence[str]) -> int:
        made = await embed_turns(store.conversations, embedder, ids)
        on_progress(len(ids))
        return made

    async def some_summaries(ids: Sequence[str]) -> int:
        return await embed_summaries(store.summaries, embedder, ids)

    async def some_notes(ids: Sequence[str]) -> int:
        return await embed_notes(store.notes, embedder, ids)

    await _embed_batches(store.conversations.turns_to_embed, some_turns, embedder.name)
    await _embed_batches(store.summaries.to_embed, some_summaries, embedder.name)
    await _embed_batches(store.notes.to_embed, some_notes, embedder.name)


async def _embed_batches(
    missing: Callable[[str, int], Awaitable[list[str]]],
    embed: Callable[[Sequence[str]], Awaitable[int]],
    model: str,
) -> None:
    """Embed what is missing, batch by batch; what has no meaning is passed over."""
    without_meaning = 0
    while ids := (await missing(model, BATCH + without_meaning))[without_meaning:]:
        without_meaning += len(ids) - await embed(ids)
