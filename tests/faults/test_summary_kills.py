"""Summarising that dies at any step, or is done by several at once: one summary, nothing lost."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from ragforge.domain.schema import CONVERSATION, SUMMARY
from ragforge.domain.summaries import SummaryFilter
from ragforge.ports.store import Store
from tests.conftest import Effort
from tests.fakes.engines import Engines
from tests.fakes.projects import ToyEmbedder
from tests.fakes.remembering import check_levels, memory_of
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.zygote import run_module
from tests.faults.summariser import LONG, Steps, check_summaries, draft, store_turns, watched

NEVER = 10**9
SHORT = timedelta(milliseconds=60)


class Crash(BaseException):
    """What a killed process would not live to see."""


def crash() -> None:
    raise Crash


def run(location: Path, step: int) -> subprocess.CompletedProcess[str]:
    return run_module("tests.faults.summariser", str(location), str(step))


async def test_killed_at_every_step_the_next_process_finishes(
    engines: Engines, tmp_path: Path, effort: Effort
) -> None:
    whole = tmp_path / "whole.db"
    store = await engines.open_at(str(whole))
    talk = await store_turns(store)
    await store.close()
    copy = tmp_path / "copy.db"
    shutil.copy(whole, copy)
    done = run(copy, NEVER)
    assert done.returncode == 0, done.stderr
    steps = int(done.stdout)
    assert steps > 50

    # Reading changes nothing, so that not every step can differ: of those, each third.
    for step in range(0, steps, effort(16, 3)):
        for leftover in tmp_path.glob("copy.db*"):
            leftover.unlink()
        shutil.copy(whole, copy)
        assert run(copy, step).returncode == -9
        assert run(copy, NEVER).returncode == 0
        after = await engines.open_at(str(copy))
        await check_summaries(after, talk)
        await after.close()


# A crash leaves connections open, and this process lives to hear of it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_interrupted_before_and_after_every_step_nothing_is_stuck(
    engine: str, engines: Engines, effort: Effort
) -> None:
    steps = Steps(NEVER, crash)
    store = await engines.empty(engine)
    await store_turns(store)
    await memory_of(watched(store, steps), ScriptedModel(draft)).worker.drain()

    for step in range(0, steps.taken, effort(10, 1) if engine == "sqlite" else effort(40, 9)):
        store = await engines.empty(engine)
        talk = await store_turns(store)
        dying = memory_of(watched(store, Steps(step, crash)), ScriptedModel(draft))
        with pytest.raises(Crash):
            await replace(dying.worker, lease=SHORT).drain()
        await asyncio.sleep(SHORT.total_seconds())  # this process lives: its lease must expire
        await memory_of(store, ScriptedModel(draft)).worker.drain()
        await check_summaries(store, talk)
        await store.close()


# As above.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_interrupted_among_summaries_that_one_job_makes_none_lacks_its_vector(
    engine: str, engines: Engines, effort: Effort
) -> None:
    async def store_long_talk() -> tuple[Store, str]:
        store = await engines.empty(engine)
        memory = memory_of(store)
        talk = await memory.start()
        for number in range(4):
            await memory.say(talk, f"Question {number}: which cart?", f"{LONG}The cart fails.")
        return store, talk

    embedder = ToyEmbedder()
    steps = Steps(NEVER, crash)
    store, talk = await store_long_talk()
    await memory_of(watched(store, steps), embedder=embedder).worker.drain()
    whole = await store.records.find(SUMMARY, SummaryFilter(talk))
    assert {one.level for one in whole} == {1, 2}

    for step in range(0, steps.taken, effort(12, 1) if engine == "sqlite" else effort(40, 9)):
        store, talk = await store_long_talk()
        dying = memory_of(watched(store, Steps(step, crash)), embedder=embedder)
        with pytest.raises(Crash):
            await replace(dying.worker, lease=SHORT).drain()
        await asyncio.sleep(SHORT.total_seconds())
        memory = memory_of(store, embedder=embedder)
        await memory.worker.drain()
        await check_levels(memory, await store.records.get(CONVERSATION, talk))
        assert len(await store.records.find(SUMMARY, SummaryFilter(talk))) == len(whole)
        assert await store.index.pending(SUMMARY, embedder.name, 10) == []
        assert (await store.records.get(CONVERSATION, talk)).summary
        await store.close()


async def test_three_processes_at_once_make_one_summary_each(
    engines: Engines, tmp_path: Path
) -> None:
    location = tmp_path / "shared.db"
    store = await engines.open_at(str(location))
    talk = await store_turns(store)

    runs = [asyncio.to_thread(run, location, NEVER) for _ in range(3)]
    for done in await asyncio.gather(*runs):
        assert done.returncode == 0, done.stderr

    await check_summaries(store, talk)


@pytest.mark.both_engines
async def test_two_workers_at_once_make_one_summary_each(store: Store) -> None:
    talk = await store_turns(store)
    models = [ScriptedModel(draft, delay=0.05) for _ in range(2)]
    await asyncio.gather(*(memory_of(store, model).worker.drain() for model in models))
    for model in models:
        await memory_of(store, model).worker.drain()

    await check_summaries(store, talk)
    assert sum(len(model.asked) for model in models) == 3
    assert len(await store.records.find(SUMMARY, SummaryFilter(talk))) == 3
