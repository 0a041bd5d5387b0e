"""Vectors: scores and limits, the same on every engine and for everything that is searched."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Mapping

import pytest

from ragforge.domain.code import CodeFilter
from ragforge.domain.conversations import ConversationFilter, MemoryFilter
from ragforge.domain.hits import Match
from ragforge.domain.schema import CONVERSATION, PROJECT, SUMMARY, TURN
from ragforge.domain.summaries import SummaryFilter
from ragforge.domain.vectors import Vector
from ragforge.errors import DimensionMismatch, InvalidVector
from ragforge.ports.store import Store
from tests.fakes.builders import (
    MODEL,
    conversation,
    direction,
    parsed,
    project,
    scope,
    score_of,
    summary,
    user,
    vector,
)
from tests.fakes.code import embed_scopes, find_nearest


class VectorIndex:
    """Owners of one kind, named by number, and the search over their vectors."""

    def __init__(self, store: Store, kind: str) -> None:
        self._store = store
        self._kind = kind

    async def make(self, count: int) -> list[str]:
        """Store this number of owners, without vectors."""
        names = [f"n{i:03}" for i in range(count)]
        if self._kind == "scope":
            await self._store.records.put(PROJECT, project(uuid="p"))
            scopes = [scope("x", uuid=name) for name in names]
            await self._store.code.replace_files("p", [parsed("x.py", *scopes)])
            return names
        own = names if self._kind == "conversation" else ["c"]
        for name in own:
            await self._store.records.put(CONVERSATION, conversation(uuid=name))
        if self._kind == "turn":
            await self._store.timeline.append("c", [user(uuid=name) for name in names])
        if self._kind == "summary":
            for name in names:
                await self._store.timeline.save_summary(summary("c", uuid=name))
        return names

    async def embed(self, vectors: Mapping[str, Vector]) -> None:
        if self._kind == "turn":
            await self._store.index.embed(TURN, vectors)
        elif self._kind == "summary":
            await self._store.index.embed(SUMMARY, vectors)
        elif self._kind == "scope":
            await embed_scopes(self._store, vectors)
        else:
            for name, one in vectors.items():
                await self._store.index.embed(CONVERSATION, {name: one})

    async def find(self, query: Vector, limit: int = 99, min_score: float = 0.0) -> list[Match]:
        if self._kind == "turn":
            return (
                await self._store.index.search(
                    TURN, "", query, MemoryFilter(), limit, min_score, read=0
                )
            ).by_vector
        if self._kind == "summary":
            return (
                await self._store.index.search(
                    SUMMARY, "", query, SummaryFilter(), limit, min_score
                )
            ).by_vector
        if self._kind == "scope":
            return await find_nearest(self._store, query, CodeFilter(), limit)
        return (
            await self._store.index.search(
                CONVERSATION, "", query, ConversationFilter(), limit, min_score
            )
        ).by_vector

    async def ids(self, query: Vector, limit: int = 99, min_score: float = 0.0) -> list[str]:
        return [match.id for match in await self.find(query, limit, min_score)]


@pytest.fixture(params=["turn", "summary", "scope", "conversation"])
def index(request: pytest.FixtureRequest, store: Store) -> VectorIndex:
    return VectorIndex(store, request.param)


@pytest.mark.parametrize("dimension", [1, 768])
async def test_a_score_is_half_of_one_plus_the_cosine(index: VectorIndex, dimension: int) -> None:
    chance = random.Random(dimension)

    def anything() -> Vector:
        return vector(*(chance.uniform(-9, 9) for _ in range(dimension)))

    names = await index.make(12)
    planted = {name: anything() for name in names}
    await index.embed(planted)
    query = anything()

    found = await index.find(query)

    expected = {name: score_of(query, one) for name, one in planted.items()}
    assert {match.id: match.score for match in found} == pytest.approx(expected, abs=1e-5)
    scores = [match.score for match in found]
    assert scores == sorted(scores, reverse=True)


async def test_the_scale_goes_from_opposite_to_same(index: VectorIndex) -> None:
    names = await index.make(5)
    await index.embed(dict(zip(names, map(direction, (0, 60, 90, 120, 180)), strict=True)))

    found = await index.find(direction(0))

    assert [match.id for match in found] == names
    assert [match.score for match in found] == pytest.approx([1, 0.75, 0.5, 0.25, 0], abs=1e-5)
    assert all(0 <= match.score <= 1 for match in found)


async def test_length_does_not_matter_even_at_the_ends_of_float32(index: VectorIndex) -> None:
    names = await index.make(4)
    vectors = [vector(size, size / 2) for size in (1e-30, 1e-3, 1e18, 1e30)]
    await index.embed(dict(zip(names, vectors, strict=True)))

    for query in (vector(2, 1), vector(2e30, 1e30), vector(2e-30, 1e-30)):
        found = await index.find(query)
        assert {match.id for match in found} == set(names)
        assert [match.score for match in found] == pytest.approx([1] * 4, abs=1e-5)


async def test_the_nearest_come_first_and_the_limit_is_kept(index: VectorIndex) -> None:
    names = await index.make(30)
    await index.embed({name: direction(3 * i) for i, name in enumerate(names)})

    assert await index.ids(direction(0), 4) == names[:4]
    assert await index.ids(direction(90), 2) == names[:-3:-1]
    assert await index.ids(direction(0), 0) == []


@pytest.mark.parametrize("kind", ["turn", "summary", "conversation"])
async def test_what_scores_less_than_asked_for_is_left_out(store: Store, kind: str) -> None:
    index = VectorIndex(store, kind)
    names = await index.make(4)
    await index.embed(dict(zip(names, map(direction, (0, 60, 90, 180)), strict=True)))

    assert await index.ids(direction(0), min_score=0.74) == names[:2]
    assert await index.ids(direction(0), min_score=0.76) == names[:1]
    assert await index.ids(direction(30), min_score=0.9999) == []
    assert await index.ids(direction(0), 1, min_score=0.4) == names[:1]


async def test_owners_without_a_vector_are_not_found(index: VectorIndex) -> None:
    names = await index.make(3)
    await index.embed({names[1]: direction(0)})
    assert await index.ids(direction(0)) == [names[1]]


async def test_models_never_meet(index: VectorIndex) -> None:
    names = await index.make(3)
    await index.embed({names[0]: direction(0, "a"), names[1]: direction(0, "b")})
    await index.embed(
        {names[2]: vector(1, 0, 0, model="A")}
    )  # another length is fine: another model

    assert await index.ids(direction(0, "a")) == [names[0]]
    assert await index.ids(direction(0, "b")) == [names[1]]
    assert await index.ids(vector(1, 0, 0, model="A")) == [names[2]]
    assert await index.ids(direction(0, "unknown")) == []


async def test_a_newer_vector_replaces_the_older(index: VectorIndex, store: Store) -> None:
    [name] = await index.make(1)
    await index.embed({name: direction(0)})
    assert (await index.find(direction(0)))[0].score == pytest.approx(1, abs=1e-5)

    await index.embed({name: direction(90)})

    [hit] = await index.find(direction(0))
    assert hit.score == pytest.approx(0.5, abs=1e-5)
    assert await store.archive.count("vector") == 1


async def test_an_owner_moves_to_the_model_that_embedded_it_last(index: VectorIndex) -> None:
    [name] = await index.make(1)
    await index.embed({name: direction(0, "old")})
    await index.embed({name: vector(0, 1, 0, model="new")})

    assert await index.ids(vector(0, 1, 0, model="new")) == [name]


async def test_all_vectors_of_a_model_have_one_length(index: VectorIndex, store: Store) -> None:
    names = await index.make(2)
    await index.embed({names[0]: direction(0)})

    with pytest.raises(DimensionMismatch) as refused:
        await index.embed({names[1]: vector(1, 0, 0)})
    with pytest.raises(DimensionMismatch):
        await index.find(vector(1, 0, 0))

    assert (refused.value.model, refused.value.expected, refused.value.actual) == (MODEL, 2, 3)
    assert await index.ids(direction(0)) == [names[0]]
    assert await store.archive.count("vector") == 1


async def test_one_model_has_one_length_for_everything_it_embeds(
    index: VectorIndex, store: Store
) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="first"))
    await store.index.embed(CONVERSATION, {"first": vector(1, 0, 0)})
    names = await index.make(1)

    with pytest.raises(DimensionMismatch):
        await index.embed({names[0]: direction(0)})


USELESS = {
    "nothing": b"",
    "odd": b"\0\0\0",
    "zero": struct.pack("<2f", 0, 0),
    "NaN": struct.pack("<2f", math.nan, 1),
    "infinity": struct.pack("<2f", math.inf, 1),
    "minus infinity": struct.pack("<2f", 1, -math.inf),
}


async def test_a_vector_without_a_direction_is_refused(index: VectorIndex, store: Store) -> None:
    names = await index.make(2)
    await index.embed({names[0]: direction(0)})

    for data in USELESS.values():
        with pytest.raises(InvalidVector):
            await index.embed({names[1]: Vector(MODEL, data)})
        with pytest.raises(InvalidVector):
            await index.find(Vector(MODEL, data))

    assert await store.archive.count("vector") == 1


async def test_a_batch_with_one_bad_vector_sets_none(store: Store) -> None:
    for kind in ("turn", "scope"):
        index = VectorIndex(store, kind)
        names = await index.make(2)
        with pytest.raises(DimensionMismatch):
            await index.embed({names[0]: direction(0), names[1]: vector(1, 0, 0)})
        assert await index.ids(direction(0)) == []
    assert await store.archive.count("vector") == 0


async def test_numbers_are_kept_exactly(index: VectorIndex, store: Store) -> None:
    [name] = await index.make(1)
    odd = vector(1e-45, -0.0, 1 / 3, 3.4e38, -1.1754944e-38)
    await index.embed({name: odd})

    [(_, record)] = await store.archive.read("vector", None, 9)

    assert record["data"] == odd.data
