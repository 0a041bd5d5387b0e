"""The worker: every job is done or ends where a person can see it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from ragforge.adapters.stores.holders import this_process
from ragforge.adapters.stores.sqlite import work
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.instants import now
from ragforge.domain.schema import JOB
from ragforge.domain.text import Json
from ragforge.domain.work import Holder, NewJob
from ragforge.jobs import worker as worker_module
from ragforge.jobs.worker import LAST_RETRY, Handler, Worker, compute_retry_delay
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.ports.store import Store
from ragforge.search.words.tokenise import WORDS


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    yield store
    await store.close()


def worker(store: Store, lease: float = 60, attempts: int = 3, **handlers: Handler) -> Worker:
    return Worker(store.jobs, this_process(), handlers, timedelta(seconds=lease), attempts)


async def test_due_jobs_are_done_in_order_and_once(store: Store) -> None:
    done: list[Json] = []

    async def note(payload: Json) -> None:
        done.append(payload)

    await store.jobs.enqueue([NewJob(f"k{n}", "note", {"n": n}) for n in range(3)])
    await store.jobs.enqueue([NewJob("k1", "note", {"n": "again"})])

    assert await worker(store, note=note).drain() == 3
    assert await worker(store, note=note).drain() == 0
    assert done == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert (await store.jobs.count()).by_status["done"] == 3


async def test_a_job_without_a_handler_waits(store: Store) -> None:
    await store.jobs.enqueue([NewJob("k", "unknown")])

    assert await worker(store).drain() == 0
    assert (await store.records.get(JOB, "k")).status == "pending"


async def test_a_failing_job_is_tried_again_later_and_ends_as_a_dead_letter(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: Json) -> None:
        raise ValueError("no such \ud800 model")

    monkeypatch.setattr(worker_module, "FIRST_RETRY", timedelta(0))
    await store.jobs.enqueue([NewJob("k", "fail"), NewJob("other", "fine")])

    async def fine(_: Json) -> None:
        return None

    await worker(store, fail=fail, fine=fine).drain()

    job = await store.records.get(JOB, "k")
    assert (job.status, job.attempts) == ("dead", 3)
    assert job.error == "ValueError: no such ? model"
    assert (await store.records.get(JOB, "other")).status == "done"


async def test_a_failed_job_is_not_due_before_its_time(store: Store) -> None:
    async def fail(_: Json) -> None:
        raise OSError("offline")

    await store.jobs.enqueue([NewJob("k", "fail")])

    assert await worker(store, fail=fail).drain() == 1
    job = await store.records.get(JOB, "k")
    assert (job.status, job.attempts) == ("pending", 1)
    assert job.run_after > now()


async def test_a_long_job_keeps_its_lease(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    over, beaten = asyncio.Event(), asyncio.Event()
    clock = work.read_boot_clock()
    assert clock is not None
    heartbeat = store.jobs.heartbeat

    async def slow(_: Json) -> None:
        await over.wait()

    async def note(key: str, holder: Holder, lease: timedelta) -> None:
        await heartbeat(key, holder, lease)
        beaten.set()

    monkeypatch.setattr(work, "read_boot_clock", lambda: clock)
    monkeypatch.setattr(store.jobs, "heartbeat", note)
    await store.jobs.enqueue([NewJob("k", "slow")])
    first = asyncio.create_task(worker(store, lease=0.09, slow=slow).drain())
    for _ in range(3):  # longer than one lease, in steps that are shorter
        beaten.clear()
        await beaten.wait()
        clock += 60

    assert await worker(store, slow=slow).drain() == 0
    over.set()
    assert await first == 1
    assert (await store.records.get(JOB, "k")).status == "done"


async def test_a_running_worker_takes_jobs_as_they_come(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = asyncio.Event()

    async def note(_: Json) -> None:
        done.set()

    monkeypatch.setattr(worker_module, "POLL_SECONDS", 0.01)
    stopping = asyncio.Event()
    running = asyncio.create_task(worker(store, note=note).run(stopping))
    await asyncio.sleep(0.05)
    await store.jobs.enqueue([NewJob("k", "note")])

    await asyncio.wait_for(done.wait(), 10)
    stopping.set()
    await running
    assert (await store.records.get(JOB, "k")).status == "done"


async def test_a_worker_that_is_told_to_stop_finishes_its_current_job(store: Store) -> None:
    stopping, begun = asyncio.Event(), asyncio.Event()

    async def slow(_: Json) -> None:
        begun.set()
        await asyncio.sleep(0.1)

    await store.jobs.enqueue([NewJob("k", "slow")])
    running = asyncio.create_task(worker(store, slow=slow).run(stopping))
    await begun.wait()
    stopping.set()
    await running

    assert (await store.records.get(JOB, "k")).status == "done"


def test_the_wait_doubles_up_to_a_limit() -> None:
    waits = [compute_retry_delay(attempts).total_seconds() for attempts in range(1, 30)]

    assert waits[:4] == [2, 4, 8, 16]
    assert waits[-1] == LAST_RETRY.total_seconds()


async def test_a_job_whose_process_dies_each_time_is_abandoned(store: Store) -> None:
    async def never(_: Json) -> None:
        raise AssertionError("it was tried often enough")

    await store.jobs.enqueue([NewJob("k", "deadly")])
    for _ in range(3):  # its process died: its end was not recorded
        assert await store.jobs.claim(this_process(), timedelta(0)) is not None

    await worker(store, deadly=never).drain()

    job = await store.records.get(JOB, "k")
    assert (job.status, job.error) == ("dead", "its process died 3 times")


async def test_a_job_that_is_interrupted_by_closing_does_not_count_as_an_attempt(
    store: Store,
) -> None:
    begun = asyncio.Event()

    async def wait(_: Json) -> None:
        begun.set()
        await asyncio.Event().wait()

    await store.jobs.enqueue([NewJob("k", "wait")])
    working = asyncio.create_task(worker(store, wait=wait).run(asyncio.Event()))
    await begun.wait()
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)

    job = await store.records.get(JOB, "k")
    assert (job.status, job.attempts) == ("pending", 0)


async def test_closing_at_once_waits_for_no_job(store: Store) -> None:
    done: list[Json] = []

    async def note(payload: Json) -> None:
        done.append(payload)

    stopping = asyncio.Event()
    working = asyncio.create_task(worker(store, note=note).run(stopping))
    await asyncio.sleep(0.3)  # until it waits for something to do
    await store.jobs.enqueue([NewJob("k", "note")])
    stopping.set()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(working, 0)

    assert done == []


async def test_a_dead_job_names_what_failed_and_not_the_group_it_failed_in(store: Store) -> None:
    async def fail(_: Json) -> None:
        inner = ExceptionGroup("unhandled errors in a TaskGroup", [OSError("disk"), KeyError("k")])
        raise ExceptionGroup("unhandled errors in a TaskGroup", [inner, OSError("disk")])

    await store.jobs.enqueue([NewJob("k", "fail")])
    await worker(store, attempts=1, fail=fail).drain()

    assert (await store.records.get(JOB, "k")).error == "OSError: disk; KeyError: 'k'"
