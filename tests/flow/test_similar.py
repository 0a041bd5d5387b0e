"""Similar conversations: by words only, by turns, and by summaries if there are any."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ragforge.domain.schema import CONVERSATION, SUMMARY, TURN
from ragforge.domain.vectors import Vector
from ragforge.memory.embed import to_turn_model
from ragforge.memory.search import similar
from ragforge.memory.search.similar import find_similar_conversations
from ragforge.memory.search.turns import MemorySearch
from ragforge.ports.store import Store
from tests.fakes.builders import at, conversation, direction, exchange, summary, user
from tests.fakes.projects import ToyEmbedder


class Compass(ToyEmbedder):
    """Gives every query the direction that a test chose for it."""

    history_threshold = 0.9

    def __init__(self, queries: Mapping[str, float]) -> None:
        super().__init__("toy-embedder")
        self._queries = queries

    def _vector(self, text: str) -> Vector:
        return direction(self._queries[text])


@pytest.fixture
async def talks(store: Store) -> Store:
    """Three conversations of two projects."""
    said = {
        "auth": ("/work/shop", "How do we check passwords?", "With bcrypt, in login.py."),
        "cart": ("/work/shop", "Where do zebras go?", "Into the cart."),
        "bank": ("/work/bank", "How do passwords expire?", "After a year."),
    }
    for minute, (name, (cwd, question, answer)) in enumerate(said.items()):
        await store.records.put(CONVERSATION, conversation(cwd, uuid=name, created_at=at(minute)))
        await store.timeline.append(name, exchange(question, answer, minute))
    return store


async def found(
    store: Store, text: str, embedder: ToyEmbedder | None = None, project: str | None = None
) -> list[str]:
    memory = MemorySearch(store, embedder)
    hits = await find_similar_conversations(memory, text, 5, project and [project])
    return [hit.conversation.uuid for hit in hits]


async def test_words_find_conversations_without_a_summary_or_a_model(talks: Store) -> None:
    assert set(await found(talks, "password")) == {"auth", "bank"}
    assert await found(talks, "password bcrypt") == ["auth", "bank"]
    assert await found(talks, "giraffe") == []


async def test_a_project_is_not_mixed_with_another(talks: Store) -> None:
    assert await found(talks, "password", project="/work/shop") == ["auth"]
    compass = Compass({"signing in": 10})
    await talks.index.embed(TURN, await _vectors(talks, {"auth": 90, "bank": 10}))
    assert await found(talks, "signing in", compass, "/work/shop") == []
    assert await found(talks, "signing in", compass) == ["bank"]


async def _vectors(store: Store, degrees: Mapping[str, float]) -> dict[str, Vector]:
    turns = {}
    for name, angle in degrees.items():
        [question, *_] = await store.timeline.messages(name)
        turns[question.uuid] = to_turn_model(direction(angle))
    return turns


async def test_turns_are_found_by_meaning(talks: Store) -> None:
    await talks.index.embed(TURN, await _vectors(talks, {"cart": 5, "bank": 20}))
    assert await found(talks, "striped animals", Compass({"striped animals": 0})) == [
        "cart",
        "bank",
    ]


async def test_the_vector_of_a_conversations_summary_counts(talks: Store) -> None:
    await talks.index.embed(CONVERSATION, {"auth": direction(0)})
    await talks.index.embed(CONVERSATION, {"cart": direction(30)})
    assert await found(talks, "signing in", Compass({"signing in": 1})) == ["auth", "cart"]


async def test_summaries_are_found_by_words_and_by_meaning(talks: Store) -> None:
    about = summary("cart", uuid="s", conversation_summary="It was about giraffes.")
    await talks.timeline.save_summary(about)
    assert await found(talks, "giraffe") == ["cart"]
    await talks.index.embed(SUMMARY, {"s": direction(0)})
    assert await found(talks, "long necks", Compass({"long necks": 2})) == ["cart"]


async def test_a_model_that_fails_leaves_the_words(talks: Store) -> None:
    broken = Compass({})
    broken.fails = True
    assert set(await found(talks, "password", broken)) == {"auth", "bank"}


async def test_the_turn_that_speaks_of_it_most_is_returned(talks: Store) -> None:
    await talks.timeline.append("auth", exchange("And the bcrypt rounds?", "Twelve."))
    memory = MemorySearch(talks, None)
    [hit] = await find_similar_conversations(memory, "bcrypt rounds", 1)
    assert hit.turn is not None
    assert hit.turn.answer == "Twelve."
    assert hit.found_by == ("words",)
    assert hit.score == 1.0  # nothing is known of its meaning


async def test_one_long_conversation_does_not_hide_the_others(
    talks: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(similar, "FIRST_FETCH", 4)
    await talks.timeline.append("cart", [user(f"password password {n}") for n in range(30)])
    assert set(await found(talks, "password")) == {"auth", "bank", "cart"}
