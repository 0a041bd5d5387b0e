"""Embed: the vectors of turns, summaries, notes and queries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from ragforge.domain.notes import format_note_for_search
from ragforge.domain.summaries import format_summary_for_embedding
from ragforge.domain.turns import EMBEDDED_CHARS, format_turn_for_embedding, group_into_turns
from ragforge.domain.vectors import Vector
from ragforge.domain.work import NewJob
from ragforge.errors import ModelError
from ragforge.ports.conversations import ConversationStore
from ragforge.ports.embedder import Embedder
from ragforge.ports.notes import NoteStore
from ragforge.ports.store import Store
from ragforge.ports.summaries import SummaryStore

EMBED_JOB = "embed_turns"
EMBED_NOTES_JOB = "embed_notes"
MISSING_JOB = "embed_missing"
BATCH = 256


async def embed_query(embedder: Embedder | None, text: str) -> Vector | None:
    """Return the vector to search with; None without a model, or if it fails.

    A search by words alone is better than none.
    """
    try:
        return None if embedder is None else await embedder.embed_query(text)
    except ModelError:
        return None


async def embed_turns(store: ConversationStore, embedder: Embedder, ids: Sequence[str]) -> int:
    """Embed turns and return how many have a vector now; deleted ones are left out."""
    found = await store.turns(ids)
    turns = [turn for messages in found.values() for turn in group_into_turns(messages)]
    texts = {turn.uuid: format_turn_for_embedding(turn) for turn in turns}
    return await _embed_texts(texts, embedder, store.embed_turns)


async def embed_summaries(store: SummaryStore, embedder: Embedder, ids: Sequence[str]) -> int:
    """Embed summaries and return how many have a vector now; deleted ones are left out."""
    found = await store.with_ids(ids)
    texts = {uuid: format_summary_for_embedding(summary) for uuid, summary in found.items()}
    return await _embed_texts(texts, embedder, store.embed)


async def embed_notes(store: NoteStore, embedder: Embedder, ids: Sequence[str]) -> int:
    """Embed notes and return how many have a vector now; deleted ones are left out."""
    found = await store.with_ids(ids)
    texts = {uuid: format_note_for_search(note)[:EMBEDDED_CHARS] for uuid, note in found.items()}
    return await _embed_texts(texts, embedder, store.embed)


async def _embed_texts(
    texts: Mapping[str, str],
    embedder: Embedder,
    save: Callable[[Mapping[str, Vector]], Awaitable[None]],
) -> int:
    vectors = await embedder.embed(list(texts.values()))
    made = {id_: vector for id_, vector in zip(texts, vectors, strict=True) if vector is not None}
    if made:
        await save(made)
    return len(made)


async def enqueue_missing(store: Store, embedder: Embedder) -> None:
    """Queue the embedding of everything that has no vector of this model, if there is any.

    The job's key names what is missing. So a job that failed for good is tried again only when
    something has changed, or when it is revived.
    """
    missing, every = await store.conversations.count_turns_to_embed(embedder.name)
    others = await store.summaries.to_embed(embedder.name, 1)
    others += await store.notes.to_embed(embedder.name, 1)
    if missing or others:
        # Everybody embeds their own.
        whose = f"{store.viewer}:" if store.viewer else ""
        key = f"embed-missing:{whose}{embedder.name}:{missing}-of-{every}:{''.join(others)}"
        if not await store.jobs.enqueue([NewJob(key, MISSING_JOB)]):
            await store.jobs.revive(key)


async def embed_missing(
    store: Store, embedder: Embedder, on_progress: Callable[[int], None] = lambda _: None
) -> None:
    """Embed everything that has no vector of this model, as after the choice of another model.

    It can be interrupted at any point: what was embedded stays. `on_progress` receives how many
    turns each step has processed.
    """

    async def embed_some_turns(ids: Sequence[str]) -> int:
        made = await embed_turns(store.conversations, embedder, ids)
        on_progress(len(ids))
        return made

    model = embedder.name
    embed_some_summaries = partial(embed_summaries, store.summaries, embedder)
    await _embed_batches(store.conversations.turns_to_embed, embed_some_turns, model)
    await _embed_batches(store.summaries.to_embed, embed_some_summaries, model)
    await _embed_batches(store.notes.to_embed, partial(embed_notes, store.notes, embedder), model)


async def _embed_batches(
    list_missing: Callable[[str, int], Awaitable[list[str]]],
    embed: Callable[[Sequence[str]], Awaitable[int]],
    model: str,
) -> None:
    """Embed what is missing, batch by batch. Texts without meaning are skipped."""
    skipped = 0
    while ids := (await list_missing(model, BATCH + skipped))[skipped:]:
        skipped += len(ids) - await embed(ids)
