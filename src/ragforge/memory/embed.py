"""Embed: give turns their vectors, once each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ragforge.domain.turns import embedding_text, messages_to_turns
from ragforge.domain.work import NewJob
from ragforge.ports.conversations import ConversationStore
from ragforge.ports.embedder import Embedder
from ragforge.ports.work import JobQueue

EMBED_JOB = "embed_turns"
MISSING_JOB = "embed_missing"
BATCH = 256


async def embed_turns(store: ConversationStore, embedder: Embedder, turn_ids: Sequence[str]) -> int:
    """Embed turns and return how many have a vector now; turns that are gone are left out."""
    found = await store.turns(turn_ids)
    turns = [turn for messages in found.values() for turn in messages_to_turns(messages)]
    vectors = await embedder.embed([embedding_text(turn) for turn in turns])
    made = {
        turn.uuid: vector for turn, vector in zip(turns, vectors, strict=True) if vector is not None
    }
    if made:
        await store.embed_turns(made)
    return len(made)


async def enqueue_missing(store: ConversationStore, jobs: JobQueue, embedder: Embedder) -> None:
    """Queue the embedding of turns that have no vector of this model, if there are any.

    What is missing names the job, so that one that failed for good is tried anew only once
    something has changed, or is revived.
    """
    missing, every = await store.count_turns_to_embed(embedder.name)
    if missing:
        key = f"embed-missing:{embedder.name}:{missing}-of-{every}"
        if not await jobs.enqueue([NewJob(key, MISSING_JOB)]):
            await jobs.revive(key)


async def embed_missing(
    store: ConversationStore,
    embedder: Embedder,
    on_progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Embed every turn that has no vector of this model: after a new model was chosen.

    It can be broken off at any point; what was embedded stays. Tells how many turns each
    step has dealt with.
    """
    without_meaning = 0
    while ids := (await store.turns_to_embed(embedder.name, BATCH + without_meaning))[
        without_meaning:
    ]:
        without_meaning += len(ids) - await embed_turns(store, embedder, ids)
        on_progress(len(ids))
