"""States: which turns are stored, embedded, summarised, and which failed for good."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ragforge.domain.schema import CONVERSATION, TURN
from ragforge.domain.text import Json
from ragforge.domain.work import Holder, NewJob
from ragforge.memory.history import TurnStates, load_states
from ragforge.ports.store import Store
from tests.fakes.builders import assistant, conversation, direction, summary, system, user
from tests.fakes.jobs import fail_job

HOLDER = Holder("here", 1, 1.0)


async def die(store: Store, key: str, payload: Json, reason: str) -> None:
    """Leave a job that failed for good."""
    await store.jobs.enqueue([NewJob(key, "embed_turns", payload)])
    await store.jobs.claim(HOLDER, timedelta(minutes=1))
    await fail_job(store, key, HOLDER, reason, None)


async def read_states(store: Store, model: str | None) -> TurnStates:
    """Return the states of the conversation's turns, read as a door reads them."""
    bundle = await store.archive.conversation("c", with_vectors=False)
    return await load_states(store.records, bundle, model)


@pytest.fixture
async def talk(store: Store) -> Store:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    said = [system(), *(m for n in range(4) for m in (user(uuid=f"t{n}"), assistant()))]
    await store.timeline.append("c", said)
    await store.index.embed(TURN, {"t0": direction(0), "t1": direction(1)})
    await store.timeline.save_summary(summary("c", 1, 2))
    return store


async def test_each_turn_tells_how_far_it_has_come(talk: Store) -> None:
    await die(talk, "embed-turn:t1:toy-embedder", ["t1"], "was embedded later")
    await die(talk, "embed-turn:t3:toy-embedder", ["t3"], "the model refused")

    states = await read_states(talk, "toy-embedder")

    assert {turn: state.names for turn, state in states.turns.items()} == {
        "t0": ("stored", "embedded"),
        "t1": ("stored", "embedded", "summarised"),
        "t2": ("stored", "summarised"),
        "t3": ("stored", "failed"),
    }
    assert states.turns["t3"].error == "the model refused"
    assert [state.turn_index for state in states.turns.values()] == [0, 1, 2, 3]
    assert states.failed_jobs == ()


async def test_a_vector_of_another_model_does_not_count(talk: Store) -> None:
    states = await read_states(talk, "another-model")
    assert not any(state.embedded for state in states.turns.values())


async def test_without_a_model_nothing_is_expected(talk: Store) -> None:
    states = await read_states(talk, None)
    assert {state.embedded for state in states.turns.values()} == {None}


async def test_failed_jobs_of_the_whole_conversation_are_returned(talk: Store) -> None:
    await die(talk, "summarise:c:1:0-3", {"conversation": "c"}, "too long")
    await die(talk, "summarise:cc:1", "cc", "of another one")

    [job] = (await read_states(talk, None)).failed_jobs

    assert job.error == "too long"
