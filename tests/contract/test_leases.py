"""Leases: a job belongs to one worker, as long as that worker is alive and in time."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from ragforge.adapters.stores.holders import this_host, this_process
from ragforge.domain.instants import now
from ragforge.domain.schema import JOB
from ragforge.domain.work import Holder, NewJob
from ragforge.errors import LeaseLost
from ragforge.ports.store import Store
from tests.fakes.builders import START
from tests.fakes.jobs import fail_job, finish_job
from tests.fakes.processes import another_process

MINUTE = timedelta(minutes=1)
SHORT = timedelta(milliseconds=150)
SHORT_SLEEP = 0.25
ELSEWHERE = Holder("another-host", 1, 0.0)


@pytest.fixture
async def key(store: Store) -> str:
    await store.jobs.enqueue([NewJob("k", "embed", run_after=START)])
    return "k"


async def test_a_claimed_job_is_not_claimed_by_another(store: Store, key: str) -> None:
    assert await store.jobs.claim(this_process(), MINUTE) is not None
    assert await store.jobs.claim(this_process(), MINUTE) is None
    assert (await store.records.get(JOB, key)).attempts == 1


async def test_a_lease_that_ran_out_is_free_to_take(store: Store, key: str) -> None:
    await store.jobs.claim(this_process(), SHORT)
    await asyncio.sleep(SHORT_SLEEP)

    job = await store.jobs.claim(this_process(), MINUTE)

    assert job is not None
    assert (job.key, job.status, job.attempts) == (key, "running", 2)


async def test_a_heartbeat_keeps_the_lease(store: Store, key: str) -> None:
    holder = this_process()
    await store.jobs.claim(holder, timedelta(milliseconds=400))
    await store.jobs.heartbeat(key, holder, MINUTE)
    await asyncio.sleep(0.5)

    assert await store.jobs.claim(this_process(), MINUTE) is None
    await finish_job(store, key, holder)
    assert (await store.records.get(JOB, key)).status == "done"


async def test_a_worker_that_lost_the_lease_can_no_longer_change_the_job(
    store: Store, key: str
) -> None:
    slow, quick = this_process(), this_process()
    await store.jobs.claim(slow, SHORT)
    await asyncio.sleep(SHORT_SLEEP)
    await store.jobs.claim(quick, MINUTE)
    before = await store.records.get(JOB, key)

    for attempt in (
        lambda: finish_job(store, key, slow),
        lambda: store.jobs.heartbeat(key, slow, MINUTE),
        lambda: fail_job(store, key, slow, "too late", now()),
        lambda: fail_job(store, key, slow, "too late", None),
    ):
        with pytest.raises(LeaseLost) as lost:
            await attempt()
        assert lost.value.what == key

    assert await store.records.get(JOB, key) == before
    await finish_job(store, key, quick)
    assert (await store.records.get(JOB, key)).status == "done"


async def test_a_worker_that_never_held_the_job_cannot_change_it(store: Store, key: str) -> None:
    stranger = this_process()
    with pytest.raises(LeaseLost):
        await finish_job(store, key, stranger)
    assert (await store.records.get(JOB, key)).status == "pending"

    await store.jobs.claim(this_process(), MINUTE)
    with pytest.raises(LeaseLost):
        await fail_job(store, key, stranger, "not mine", None)
    assert (await store.records.get(JOB, key)).status == "running"


async def test_a_job_that_was_put_back_is_no_longer_held(store: Store, key: str) -> None:
    holder = this_process()
    await store.jobs.claim(holder, MINUTE)
    await fail_job(store, key, holder, "later", now() + MINUTE)

    with pytest.raises(LeaseLost):
        await finish_job(store, key, holder)


async def test_a_killed_process_loses_its_job_at_once(store: Store, key: str) -> None:
    with another_process() as other:
        await store.jobs.claim(other.holder, timedelta(hours=1))
        assert await store.jobs.claim(this_process(), MINUTE) is None

        other.kill()

        job = await store.jobs.claim(this_process(), MINUTE)
    assert job is not None
    assert (job.key, job.attempts) == (key, 2)
    with pytest.raises(LeaseLost):
        await finish_job(store, key, other.holder)


async def test_a_later_process_with_the_same_number_is_another_one(store: Store, key: str) -> None:
    before = replace(this_process(), started=this_process().started - 3600)
    await store.jobs.claim(before, timedelta(hours=1))

    job = await store.jobs.claim(this_process(), MINUTE)

    assert job is not None
    assert job.key == key


async def test_a_process_of_another_host_is_trusted_until_its_lease_ends(
    store: Store, key: str
) -> None:
    assert ELSEWHERE.host != this_host()
    await store.jobs.claim(ELSEWHERE, MINUTE)
    assert await store.jobs.claim(this_process(), MINUTE) is None

    await store.jobs.heartbeat(key, ELSEWHERE, SHORT)
    await asyncio.sleep(SHORT_SLEEP)

    assert await store.jobs.claim(this_process(), MINUTE) is not None


async def test_a_lost_job_does_not_overtake_one_that_was_due_before(store: Store, key: str) -> None:
    await store.jobs.claim(this_process(), SHORT)
    await store.jobs.enqueue([NewJob("older", "embed", run_after=START - MINUTE)])
    await asyncio.sleep(SHORT_SLEEP)
    holder = this_process()

    claimed = [await store.jobs.claim(holder, MINUTE) for _ in range(3)]

    assert [job and job.key for job in claimed] == ["older", key, None]


async def test_only_lost_jobs_of_the_kinds_that_were_asked_for_are_taken(
    store: Store, key: str
) -> None:
    await store.jobs.claim(this_process(), SHORT)
    await asyncio.sleep(SHORT_SLEEP)

    assert await store.jobs.claim(this_process(), MINUTE, ["title"]) is None
    assert await store.jobs.claim(this_process(), MINUTE, ["embed"]) is not None


async def test_a_holder_of_several_jobs_finishes_each_on_its_own(store: Store, key: str) -> None:
    await store.jobs.enqueue([NewJob("second", "embed")])
    holder = this_process()
    for _ in range(2):
        await store.jobs.claim(holder, MINUTE)

    await finish_job(store, "second", holder)

    assert (await store.records.get(JOB, key)).status == "running"
    assert (await store.records.get(JOB, "second")).status == "done"


async def test_eight_workers_never_share_a_job(store: Store) -> None:
    await store.jobs.enqueue([NewJob(f"k{i}", "embed") for i in range(20)])

    async def work() -> list[str]:
        holder, done = this_process(), []
        while job := await store.jobs.claim(holder, MINUTE):
            done.append(job.key)
            await finish_job(store, job.key, holder)
        return done

    done = await asyncio.gather(*(work() for _ in range(8)))

    keys = [key for worker in done for key in worker]
    assert sorted(keys) == sorted(f"k{i}" for i in range(20))
    assert (await store.jobs.count()).by_status == {
        "pending": 0,
        "running": 0,
        "done": 20,
        "dead": 0,
    }
