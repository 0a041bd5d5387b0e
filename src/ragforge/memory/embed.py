"""Embed: the vectors of turns, summaries, notes and queries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from ragforge.domain.kinds import Kind
from ragforge.domain.notes import format_note_for_search
from ragforge.domain.passages import PassageFilter, format_passage_for_embedding
from ragforge.domain.schema import JOB, NOTE, PASSAGE, SUMMARY, TURN
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
from ragforge.domain.work import NewJob, revive
from ragforge.errors import ConversationNotFound, ModelError
from ragforge.ports.models import Embedder
from ragforge.ports.store import Store

EMBED_JOB = "embed_turns"
EMBED_NOTES_JOB = "embed_notes"
MISSING_JOB = "embed_missing"
BATCH = 256
PAGE = 32 * BATCH
"""How many are listed together: to find them, an engine goes through everything it holds."""

_TEXTS: Mapping[Kind[Any, Any], Callable[[Any], str]] = {
    SUMMARY: format_summary_for_embedding,
    NOTE: lambda note: format_note_for_search(note)[:EMBEDDED_CHARS],
    PASSAGE: format_passage_for_embedding,
}
_WHERE: Mapping[Kind[Any, Any], Any] = {PASSAGE: PassageFilter(kind="said")}
"""Which items of a kind are embedded, where not all are."""
Place: TypeAlias = tuple[str, int]  # a conversation and the number of a turn in it


async def embed_query(embedder: Embedder | None, text: str) -> Vector | None:
    """Return the vector to search with; None without a model, or if it fails."""
    try:
        return None if embedder is None else await embedder.embed_query(text)
    except ModelError:
        return None


def to_turn_model(vector: Vector) -> Vector:
    """Return the vector of a query as one that the vectors of turns are compared with."""
    return replace(vector, model=name_turn_model(vector.model))


async def embed_turns(store: Store, embedder: Embedder, ids: Sequence[str]) -> int:
    """Embed turns that still exist, each with the short ones before it; return how many."""
    found = await store.timeline.turns(ids)
    turns = {
        (one.conversation_id, turn.user.turn_index or 0): turn
        for one in found.values()
        for turn in group_into_turns(one.messages)
    }
    every = turns | await _read_turns_before(store, turns)
    texts = {}
    for (owner, index), turn in turns.items():
        places = [(owner, index - step) for step in range(WINDOW_TURNS, 0, -1)]
        before = [every[place] for place in places if place in every]
        texts[turn.uuid] = format_window_for_embedding(turn, before)
    pieces = await store.records.find(PASSAGE, PassageFilter(kind="said", turn_ids=list(texts)))
    said = {piece.uuid: format_passage_for_embedding(piece) for piece in pieces}
    await _embed_texts(store, PASSAGE, embedder, said)
    return await _embed_texts(store, TURN, embedder, texts)


async def _read_turns_before(store: Store, turns: Mapping[Place, Turn]) -> dict[Place, Turn]:
    """Return the turns before these short ones that are missing: one request a conversation."""
    missing: dict[str, set[int]] = {}
    for (owner, index), turn in turns.items():
        if len(format_window_for_embedding(turn, ())) < WINDOW_CHARS:
            wanted = range(max(index - WINDOW_TURNS, 0), index)
            missing.setdefault(owner, set()).update(n for n in wanted if (owner, n) not in turns)
    read: dict[Place, Turn] = {}
    for owner, places in missing.items():
        if places:
            with suppress(ConversationNotFound):  # deleted since
                said = await store.timeline.messages(
                    owner, min(places), max(places), with_receipts=False
                )
                read |= {
                    (owner, turn.user.turn_index or 0): turn for turn in group_into_turns(said)
                }
    return read


async def embed_items(
    store: Store, kind: Kind[Any, Any], embedder: Embedder, ids: Sequence[str]
) -> int:
    """Embed summaries, notes or passages; return how many have one now. Deleted are left out."""
    found = await store.records.get_many(kind, ids)
    texts = {uuid: _TEXTS[kind](item) for uuid, item in found.items()}
    return await _embed_texts(store, kind, embedder, texts)


async def _embed_texts(
    store: Store, kind: Kind[Any, Any], embedder: Embedder, texts: Mapping[str, str]
) -> int:
    vectors = await embedder.embed(list(texts.values()))
    made = {id_: vector for id_, vector in zip(texts, vectors, strict=True) if vector is not None}
    if kind is TURN:
        made = {id_: to_turn_model(vector) for id_, vector in made.items()}
    if made:
        await store.index.embed(kind, made)
    return len(made)


async def enqueue_missing(store: Store, embedder: Embedder) -> None:
    """Queue the embedding of everything that has no vector of this model, if there is any.

    The job's key names what is missing: a failed job is tried again when that changes.
    """
    turn_model = name_turn_model(embedder.name)
    missing, every = await store.index.count_pending(TURN, turn_model)
    others = [
        one
        for kind in _TEXTS
        for one in await store.index.pending(kind, embedder.name, 1, _WHERE.get(kind))
    ]
    if missing or others:
        # Everybody embeds their own.
        whose = f"{store.viewer}:" if store.viewer else ""
        key = f"embed-missing:{whose}{turn_model}:{missing}-of-{every}:{''.join(others)}"
        if not await store.jobs.enqueue([NewJob(key, MISSING_JOB)]):
            await store.records.update(JOB, key, revive)


async def embed_missing(
    store: Store, embedder: Embedder, on_progress: Callable[[int], None] = lambda _: None
) -> None:
    """Embed everything that has no vector of this model, as after a change of the model.

    It can be interrupted: what was embedded stays. `on_progress` receives the turns of each step.
    """

    async def embed_some_turns(ids: Sequence[str]) -> int:
        made = await embed_turns(store, embedder, ids)
        on_progress(len(ids))
        return made

    model = embedder.name
    await _embed_batches(store, TURN, name_turn_model(model), embed_some_turns)
    for kind in _TEXTS:
        await _embed_batches(store, kind, model, partial(embed_items, store, kind, embedder))


async def _embed_batches(
    store: Store,
    kind: Kind[Any, Any],
    model: str,
    embed: Callable[[Sequence[str]], Awaitable[int]],
) -> None:
    """Embed what is missing, batch by batch. Texts without meaning are skipped."""
    skipped = 0
    where = _WHERE.get(kind)
    while ids := (await store.index.pending(kind, model, PAGE + skipped, where))[skipped:]:
        for start in range(0, len(ids), BATCH):
            some = ids[start : start + BATCH]
            skipped += len(some) - await embed(some)
