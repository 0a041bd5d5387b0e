"""Locks: visible to all, free once their holder is dead or overdue."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

from ragforge.adapters.stores.holders import this_process
from ragforge.domain.instants import now
from ragforge.domain.work import Holder
from ragforge.ports.store import Store
from tests.conftest import Reopen
from tests.fakes.processes import another_process

MINUTE = timedelta(minutes=1)
SHORT = timedelta(milliseconds=150)
SHORT_SLEEP = 0.25


async def test_a_free_lock_has_no_holder(store: Store) -> None:
    assert (await store.locks.held(["ingestion"])).get("ingestion") is None


async def test_a_lock_says_who_holds_it_and_until_when(store: Store) -> None:
    holder = Holder("another-hôst", 4711, 1_700_000_000.25)
    before = now()

    assert await store.locks.acquire("ingestion", holder, MINUTE)

    lock = (await store.locks.held(["ingestion"])).get("ingestion")
    assert lock is not None
    assert (lock.name, lock.holder) == ("ingestion", holder)
    assert before <= lock.acquired_at <= now()
    assert before + MINUTE <= lock.expires_at <= now() + MINUTE


async def test_several_locks_are_looked_at_together(store: Store) -> None:
    holder = this_process()
    await store.locks.acquire("ingestion", holder, MINUTE)

    assert list(await store.locks.held(["embedding", "ingestion"])) == ["ingestion"]
    assert await store.locks.held(["embedding", "another"]) == {}
    assert await store.locks.held([]) == {}
    await store.locks.release("ingestion", holder)
    assert await store.locks.held(["embedding", "ingestion"]) == {}


async def test_a_held_lock_is_refused_to_others(store: Store) -> None:
    first, second = this_process(), this_process()
    await store.locks.acquire("ingestion", first, MINUTE)

    assert not await store.locks.acquire("ingestion", second, MINUTE)

    lock = (await store.locks.held(["ingestion"])).get("ingestion")
    assert lock is not None
    assert lock.holder == first


async def test_locks_do_not_know_each_other(store: Store) -> None:
    first, second = this_process(), this_process()
    names = ["ingestion", "embedding", "Ingestion", "ing%", "ingestion "]
    for name in names:
        assert await store.locks.acquire(name, first, MINUTE)

    await store.locks.release("ingestion", first)

    assert await store.locks.acquire("ingestion", second, MINUTE)
    for name in names[1:]:
        assert not await store.locks.acquire(name, second, MINUTE)


async def test_a_holder_renews_its_lock(store: Store) -> None:
    holder = this_process()
    await store.locks.acquire("ingestion", holder, MINUTE)
    first = (await store.locks.held(["ingestion"])).get("ingestion")

    assert await store.locks.acquire("ingestion", holder, 2 * MINUTE)

    second = (await store.locks.held(["ingestion"])).get("ingestion")
    assert first is not None
    assert second is not None
    assert second.acquired_at == first.acquired_at
    assert second.expires_at >= first.expires_at + MINUTE
    assert not await store.locks.acquire("ingestion", this_process(), MINUTE)


async def test_a_renewed_lock_outlasts_its_first_time(store: Store) -> None:
    holder = this_process()
    await store.locks.acquire("ingestion", holder, SHORT)
    await store.locks.acquire("ingestion", holder, MINUTE)
    await asyncio.sleep(SHORT_SLEEP)

    assert not await store.locks.acquire("ingestion", this_process(), MINUTE)


async def test_a_lock_that_ran_out_is_free(store: Store) -> None:
    late, next_one = this_process(), this_process()
    await store.locks.acquire("ingestion", late, SHORT)
    await asyncio.sleep(SHORT_SLEEP)
    assert (await store.locks.held(["ingestion"])).get("ingestion") is None

    assert await store.locks.acquire("ingestion", next_one, MINUTE)

    assert not await store.locks.acquire("ingestion", late, MINUTE)


async def test_a_released_lock_is_free(store: Store) -> None:
    first, second = this_process(), this_process()
    await store.locks.acquire("ingestion", first, MINUTE)

    await store.locks.release("ingestion", first)

    assert (await store.locks.held(["ingestion"])).get("ingestion") is None
    assert await store.locks.acquire("ingestion", second, MINUTE)


async def test_only_its_holder_can_release_a_lock(store: Store) -> None:
    first, second = this_process(), this_process()
    await store.locks.acquire("ingestion", first, MINUTE)

    await store.locks.release("ingestion", second)
    await store.locks.release("unknown", second)

    lock = (await store.locks.held(["ingestion"])).get("ingestion")
    assert lock is not None
    assert lock.holder == first


async def test_a_late_holder_cannot_release_the_lock_of_the_next(store: Store) -> None:
    late, next_one = this_process(), this_process()
    await store.locks.acquire("ingestion", late, SHORT)
    await asyncio.sleep(SHORT_SLEEP)
    await store.locks.acquire("ingestion", next_one, MINUTE)

    await store.locks.release("ingestion", late)

    lock = (await store.locks.held(["ingestion"])).get("ingestion")
    assert lock is not None
    assert lock.holder == next_one


async def test_the_lock_of_a_killed_process_frees_itself(store: Store) -> None:
    with another_process() as other:
        await store.locks.acquire("ingestion", other.holder, timedelta(hours=1))
        assert not await store.locks.acquire("ingestion", this_process(), MINUTE)

        other.kill()

        assert (await store.locks.held(["ingestion"])).get("ingestion") is None
    assert await store.locks.acquire("ingestion", this_process(), MINUTE)


async def test_a_later_process_with_the_same_number_does_not_hold_the_lock(store: Store) -> None:
    before = replace(this_process(), started=this_process().started - 3600)
    await store.locks.acquire("ingestion", before, timedelta(hours=1))

    assert (await store.locks.held(["ingestion"])).get("ingestion") is None
    assert await store.locks.acquire("ingestion", this_process(), MINUTE)


async def test_a_process_of_another_host_is_trusted_until_its_time_is_up(store: Store) -> None:
    elsewhere = Holder("another-host", 1, 0.0)
    await store.locks.acquire("ingestion", elsewhere, MINUTE)
    assert not await store.locks.acquire("ingestion", this_process(), MINUTE)

    await store.locks.acquire("ingestion", elsewhere, SHORT)
    await asyncio.sleep(SHORT_SLEEP)

    assert await store.locks.acquire("ingestion", this_process(), MINUTE)


async def test_a_lock_is_visible_to_other_processes(store: Store, reopen: Reopen) -> None:
    holder = this_process()
    await store.locks.acquire("ingestion", holder, MINUTE)
    other = await reopen()

    lock = (await other.locks.held(["ingestion"])).get("ingestion")

    assert lock is not None
    assert lock.holder == holder
    assert not await other.locks.acquire("ingestion", this_process(), MINUTE)


async def test_one_of_eight_concurrent_requests_gets_the_lock(store: Store, reopen: Reopen) -> None:
    other = await reopen()
    wishes = [
        (store if i % 2 else other).locks.acquire("ingestion", this_process(), MINUTE)
        for i in range(8)
    ]
    assert sorted(await asyncio.gather(*wishes)) == [False] * 7 + [True]
