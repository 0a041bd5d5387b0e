"""Embed: the vectors of turns, summaries, notes and queries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from ragforge.domain.notes import format_note_for_search
from ragforge.domain.summaries import format_summary_for_embedding
from ragforge.domain.turns import (
    EMBEDDED_CHARS,
    WINDOW_CHARS,
    WINDOW_TURNS,
    Turn,
    format_window_for_embedding,
    group_into_turns,
    name_turn_model,
)
from ragforge.domain.vectors import Vector
from ragforge.domain.work import NewJob
from ragforge.errors import ConversationNotFound, ModelError
from ragforge.ports.conversations import ConversationStore
from ragforge.ports.embedder import Embedder
from ragforge.ports.notes import NoteStore
from ragforge.ports.store import Store
from ragforge.ports.summaries import SummaryStore

EMBED_JOB = "embed_turns"
EMBED_NOTES_JOB = "embed_notes"
MISSING_JOB = "embed_missing"
BATCH = 256
PAGE = 32 * BATCH
"""So many are listed together: to find them, an engine goes through everything it holds."""

Place: TypeAlias = tuple[str, int]  # a conversation and the number of a turn in it


async def embed_query(embedder: Embedder | None, text: str) -> Vector | None:
    """Return the vector to search with; None without a model, or if it fails.

    A search by words alone is better than none.
    """
    try:
        return None if embedder is None else await embedder.embed_query(text)
    except ModelError:
        return None


def to_turn_model(vector: Vector) -> Vector:
    """Return the vector of a query as one that the vectors of turns are compared with."""
    return replace(vector, model=name_turn_model(vector.model))


async def embed_turns(store: ConversationStore, embedder: Embedder, ids: Sequence[str]) -> int:
    """Embed turns, each with the short ones before it; return how many have a vector now.

    Deleted ones are left out.
    """
    found = await store.owned_turns(ids)
    turns = {
        (owner, turn.user.turn_index or 0): turn
        for owner, messages in found.values()
        for turn in group_into_turns(messages)
    }
    every = turns | await _read_turns_before(store, turns)
    texts = {}
    for (owner, index), turn in turns.items():
        places = [(owner, index - step) for step in range(WINDOW_TURNS, 0, -1)]
        before = [every[place] for place in places if place in every]
        texts[turn.uuid] = format_window_for_embedding(turn, before)

    async def save(vectors: Mapping[str, Vector]) -> None:
        await store.embed_turns({id_: to_turn_model(one) for id_, one in vectors.items()})

    return await _embed_texts(texts, embedder, save)


async def _read_turns_before(
    store: ConversationStore, turns: Mapping[Place, Turn]
) -> dict[Place, Turn]:
    """Return the turns before these that are not among them: one request a conversation.

    A turn that fills a window alone needs none.
    """
    missing: dict[str, set[int]] = {}
    for (owner, index), turn in turns.items():
        if len(format_window_for_embedding(turn, ())) < WINDOW_CHARS:
            wanted = range(max(index - WINDOW_TURNS, 0), index)
            missing.setdefault(owner, set()).update(n for n in wanted if (owner, n) not in turns)
    read: dict[Place, Turn] = {}
    for owner, places in missing.items():
        if places:
            with suppress(ConversationNotFound):  # deleted since
                said = await store.messages(owner, min(places), max(places), with_receipts=False)
                read |= {
                    (owner, turn.user.turn_index or 0): turn for turn in group_into_turns(said)
                }
    return read


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
    turn_model = name_turn_model(embedder.name)
    missing, every = await store.conversations.count_turns_to_embed(turn_model)
    others = await store.summaries.to_embed(embedder.name, 1)
    others += await store.notes.to_embed(embedder.name, 1)
    if missing or others:
        # Everybody embeds their own.
        whose = f"{store.viewer}:" if store.viewer else ""
        key = f"embed-missing:{whose}{turn_model}:{missing}-of-{every}:{''.join(others)}"
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
    turn_model = name_turn_model(model)
    await _embed_batches(store.conversations.turns_to_embed, embed_some_turns, turn_model)
    await _embed_batches(store.summaries.to_embed, embed_some_summaries, model)
    await _embed_batches(store.notes.to_embed, partial(embed_notes, store.notes, embedder), model)


async def _embed_batches(
    list_missing: Callable[[str, int], Awaitable[list[str]]],
    embed: Callable[[Sequence[str]], Awaitable[int]],
    model: str,
) -> None:
    """Embed what is missing, batch by batch. Texts without meaning are skipped."""
    skipped = 0
    while ids := (await list_missing(model, PAGE + skipped))[skipped:]:
        for start in range(0, len(ids), BATCH):
            some = ids[start : start + BATCH]
            skipped += len(some) - await embed(some)
