"""Jobs: enqueued once, claimed in order, finished, failed, revived."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import pytest

from ragforge.adapters.stores.holders import this_process
from ragforge.domain.instants import now
from ragforge.domain.schema import JOB
from ragforge.domain.work import Holder, Job, JobFilter, NewJob, finish, release, revive
from ragforge.errors import InputError, InvalidId, InvalidJson, InvalidTime, JobNotFound, LeaseLost
from ragforge.ports.store import Store
from tests.fakes.builders import START, at
from tests.fakes.jobs import fail_job, finish_job

MINUTE = timedelta(minutes=1)


def past(minutes: float) -> datetime:
    return now() - timedelta(minutes=minutes)


async def claim_all(store: Store, kinds: list[str] | None = None) -> list[str]:
    holder, claimed = this_process(), []
    while job := await store.jobs.claim(holder, MINUTE, kinds):
        claimed.append(job.key)
    return claimed


async def claim(store: Store) -> tuple[Job, Holder]:
    holder = this_process()
    job = await store.jobs.claim(holder, MINUTE)
    assert job is not None
    return job, holder


async def test_a_job_comes_back_as_it_was_enqueued(store: Store) -> None:
    payload = {"turn": "é\x00", "n": [1, 2.5, None, {}]}
    moment = at(5, 5.5)
    before = now()

    assert await store.jobs.enqueue([NewJob("k", "embed", payload, moment)]) == 1

    job = await store.records.get(JOB, "k")
    assert (job.key, job.kind, job.payload, job.error) == ("k", "embed", payload, None)
    assert (job.status, job.attempts) == ("pending", 0)
    assert job.run_after.isoformat() == moment.isoformat()
    assert before <= job.created_at <= now()


async def test_a_payload_may_be_any_json(store: Store) -> None:
    payloads = [None, "", 0, False, [], {}, "text", 2**70]
    await store.jobs.enqueue([NewJob(repr(one), "embed", one) for one in payloads])
    for payload in payloads:
        stored = (await store.records.get(JOB, repr(payload))).payload
        assert (stored, type(stored)) == (payload, type(payload))


async def test_a_job_without_a_date_is_due_at_once(store: Store) -> None:
    await store.jobs.enqueue([NewJob("k", "embed")])
    job, _ = await claim(store)
    assert (job.key, job.status, job.attempts) == ("k", "running", 1)
    assert await store.records.get(JOB, "k") == job


async def test_two_jobs_with_one_key_are_one_job(store: Store) -> None:
    twins = [NewJob("k", "embed", 1), NewJob("k", "title", 2), NewJob("other", "embed")]

    assert await store.jobs.enqueue(twins) == 2
    assert await store.jobs.enqueue([NewJob("k", "embed", 3), NewJob("new", "embed")]) == 1
    assert await store.jobs.enqueue([]) == 0

    assert (await store.records.get(JOB, "k")).payload == 1
    assert len(await store.records.find(JOB, JobFilter())) == 3


async def test_a_key_is_known_in_every_status(store: Store) -> None:
    await store.jobs.enqueue([NewJob("k", "embed")])
    _, holder = await claim(store)
    assert await store.jobs.enqueue([NewJob("k", "embed")]) == 0  # running

    await fail_job(store, "k", holder, "no", past(1))
    assert await store.jobs.enqueue([NewJob("k", "embed")]) == 0  # pending again

    _, holder = await claim(store)
    await fail_job(store, "k", holder, "no", None)
    assert await store.jobs.enqueue([NewJob("k", "embed")]) == 0  # dead

    await store.records.update(JOB, "k", revive)
    _, holder = await claim(store)
    await finish_job(store, "k", holder)
    assert await store.jobs.enqueue([NewJob("k", "embed")]) == 0  # done
    assert await claim_all(store) == []


async def test_many_jobs_are_looked_up_at_once_whatever_their_status(store: Store) -> None:
    await store.jobs.enqueue([NewJob(key, "embed") for key in ("done", "waits")])
    job, holder = await claim(store)
    await finish_job(store, job.key, holder)
    found = await store.records.get_many(JOB, ["waits", "unknown", "done"])
    assert {key: one.status for key, one in found.items()} == {"done": "done", "waits": "pending"}
    assert await store.records.get_many(JOB, []) == {}


async def test_a_job_that_is_over_starts_again_if_asked_to(store: Store) -> None:
    jobs = [NewJob(key, "embed", 1) for key in ("done", "dead", "running", "pending")]
    await store.jobs.enqueue(jobs[:3])
    for _ in jobs[:3]:
        job, holder = await claim(store)
        if job.key == "done":
            await finish_job(store, "done", holder)
        elif job.key == "dead":
            await fail_job(store, "dead", holder, "gave up", None)
    await store.jobs.enqueue(jobs[3:])

    again = [NewJob(job.key, "embed", 2) for job in [*jobs, NewJob("new", "embed")]]
    assert await store.jobs.enqueue([*again, *again], again=True) == 3

    found = {
        job.key: (job.status, job.payload, job.error)
        for job in await store.records.find(JOB, JobFilter())
    }
    assert found == {
        "done": ("pending", 2, None),
        "dead": ("pending", 2, None),
        "running": ("running", 1, None),
        "pending": ("pending", 1, None),
        "new": ("pending", 2, None),
    }
    assert (await store.records.get(JOB, "dead")).attempts == 0
    assert sorted(await claim_all(store)) == ["dead", "done", "new", "pending"]


async def test_what_has_been_due_the_longest_comes_first(store: Store) -> None:
    await store.jobs.enqueue(
        [
            NewJob("young", "embed", run_after=past(1)),
            NewJob("old", "embed", run_after=past(9)),
            NewJob("not yet", "embed", run_after=now() + timedelta(hours=1)),
            NewJob("middle", "title", run_after=past(5).astimezone(at(0, 14).tzinfo)),
        ]
    )
    assert await claim_all(store) == ["old", "middle", "young"]
    assert (await store.records.get(JOB, "not yet")).status == "pending"


async def test_jobs_due_at_once_keep_their_order(store: Store) -> None:
    keys = [f"k{i}" for i in (3, 1, 2, 5, 4)]
    await store.jobs.enqueue([NewJob(key, "embed", run_after=START) for key in keys])
    assert await claim_all(store) == keys


async def test_only_the_kinds_that_were_asked_for_are_claimed(store: Store) -> None:
    jobs = [NewJob(kind, kind, run_after=past(9 - i)) for i, kind in enumerate("abc")]
    await store.jobs.enqueue(jobs)

    assert await claim_all(store, ["c", "b", "none"]) == ["b", "c"]
    assert await claim_all(store, ["none"]) == []
    assert await claim_all(store, []) == []
    assert await claim_all(store) == ["a"]


async def test_a_job_that_failed_waits_and_counts_its_attempts(store: Store) -> None:
    await store.jobs.enqueue([NewJob("k", "embed")])
    _, holder = await claim(store)
    later = now() + timedelta(hours=1)

    await fail_job(store, "k", holder, "too busy ✗", later)

    job = await store.records.get(JOB, "k")
    assert (job.status, job.attempts, job.error) == ("pending", 1, "too busy ✗")
    assert job.run_after == later
    assert await claim_all(store) == []


async def test_a_job_that_failed_is_tried_again_when_it_is_due(store: Store) -> None:
    await store.jobs.enqueue([NewJob("k", "embed"), NewJob("other", "embed")])
    for attempt in range(1, 4):
        job, holder = await claim(store)
        assert (job.key, job.attempts) == ("k", attempt)
        await fail_job(store, "k", holder, f"failure {attempt}", past(60))

    assert (await store.records.get(JOB, "k")).error == "failure 3"


async def test_a_dead_letter_waits_for_a_person(store: Store) -> None:
    await store.jobs.enqueue([NewJob("k", "embed")])
    _, holder = await claim(store)

    await fail_job(store, "k", holder, "gave up", None)

    job = await store.records.get(JOB, "k")
    assert (job.status, job.attempts, job.error) == ("dead", 1, "gave up")
    assert await claim_all(store) == []

    await store.records.update(JOB, "k", revive)
    revived = await store.records.get(JOB, "k")
    assert (revived.status, revived.attempts) == ("pending", 0)
    assert await claim_all(store) == ["k"]


async def test_a_job_that_was_only_begun_is_put_back_without_an_attempt(store: Store) -> None:
    await store.jobs.enqueue([NewJob("k", "embed")])
    job, holder = await claim(store)

    await store.jobs.settle(release(job), holder)

    again, _ = await claim(store)
    assert again == job


async def test_a_finished_job_is_not_claimed_again(store: Store) -> None:
    await store.jobs.enqueue([NewJob("k", "embed")])
    _, holder = await claim(store)

    await finish_job(store, "k", holder)

    assert (await store.records.get(JOB, "k")).status == "done"
    assert await claim_all(store) == []
    with pytest.raises(LeaseLost):
        await finish_job(store, "k", holder)
    with pytest.raises(LeaseLost):
        await store.jobs.heartbeat("k", holder, MINUTE)


async def test_a_job_is_not_put_like_other_records(store: Store) -> None:
    job = Job("k", "embed", None, "pending", 0, START, START, owner="somebody")
    with pytest.raises(InputError, match="its own port"):
        await store.records.put(JOB, job)
    assert await store.records.find(JOB, JobFilter()) == []


async def test_only_a_dead_letter_is_revived(store: Store) -> None:
    await store.jobs.enqueue([NewJob(key, "embed") for key in ("running", "done", "pending")])
    await claim(store)
    job, holder = await claim(store)
    await store.jobs.settle(finish(job), holder)
    before = await store.records.find(JOB, JobFilter())
    for job in before:
        assert await store.records.update(JOB, job.key, revive) == job
    assert await store.records.find(JOB, JobFilter()) == before


async def test_a_revived_job_that_was_claimed_meanwhile_stays(store: Store) -> None:
    await store.jobs.enqueue([NewJob("k", "embed")])
    _, holder = await claim(store)
    await fail_job(store, "k", holder, "gave up", None)

    async def revive_and_claim() -> Job | None:
        await store.records.update(JOB, "k", revive)
        return await store.jobs.claim(holder, MINUTE)

    claimed = [job for job in await asyncio.gather(*(revive_and_claim() for _ in range(4))) if job]

    assert [job.attempts for job in claimed] == [1]
    assert (await store.records.get(JOB, "k")).status == "running"


async def test_jobs_are_listed_oldest_first_and_counted(store: Store) -> None:
    keys = ["z", "done", "dead", "running", "a"]
    for i, key in enumerate(keys):
        await store.jobs.enqueue([NewJob(key, key, run_after=past(i))])
    for key in ("done", "dead", "running"):
        holder = this_process()
        await store.jobs.claim(holder, MINUTE, [key])
        if key == "done":
            await finish_job(store, key, holder)
        if key == "dead":
            await fail_job(store, key, holder, "no", None)

    assert [job.key for job in await store.records.find(JOB, JobFilter())] == keys
    assert [job.key for job in await store.records.find(JOB, JobFilter(), 2)] == keys[:2]
    assert [job.key for job in await store.records.find(JOB, JobFilter("pending"))] == ["z", "a"]
    assert [job.key for job in await store.records.find(JOB, JobFilter("running"))] == ["running"]
    assert await store.records.find(JOB, JobFilter(), 0) == []
    assert (await store.jobs.count()).by_status == {
        "pending": 2,
        "running": 1,
        "done": 1,
        "dead": 1,
    }


async def test_an_empty_queue_counts_nothing(store: Store) -> None:
    assert set(((await store.jobs.count()).by_status).values()) <= {0}
    assert await store.records.find(JOB, JobFilter()) == []
    assert await claim_all(store) == []


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (NewJob("", "embed"), InvalidId),
        (NewJob("x" * 513, "embed"), InvalidId),
        (NewJob("k", ""), InvalidId),
        (NewJob("k", "embed", float("nan")), InvalidJson),
        (NewJob("k", "embed", b"bytes"), InvalidJson),
        (NewJob("k", "embed", None, START.replace(tzinfo=None)), InvalidTime),
    ],
    ids=["no key", "long key", "no kind", "NaN", "bytes", "no zone"],
)
async def test_one_bad_job_enqueues_none(store: Store, bad: NewJob, error: type) -> None:
    with pytest.raises(error):
        await store.jobs.enqueue([NewJob("good", "embed"), bad])
    assert await store.records.find(JOB, JobFilter()) == []


async def test_unknown_jobs_are_errors(store: Store) -> None:
    holder = this_process()
    with pytest.raises(JobNotFound):
        await store.records.get(JOB, "none")
    with pytest.raises(JobNotFound):
        await store.records.update(JOB, "none", revive)
    for attempt in (
        lambda: store.jobs.settle(Job("none", "embed", None, "done", 1, START, START), holder),
        lambda: store.jobs.heartbeat("none", holder, MINUTE),
    ):
        with pytest.raises(LeaseLost):
            await attempt()
