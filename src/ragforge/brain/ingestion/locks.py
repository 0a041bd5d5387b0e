"""Locks: one process at a time ingests or embeds a project."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta

from ragforge.domain.text import new_id
from ragforge.domain.work import Holder, Lock
from ragforge.errors import StoreError
from ragforge.ports.work import LockStore

LEASE = timedelta(seconds=30)
POLL_SECONDS = 0.2


def name_ingestion_lock(project_id: str) -> str:
    return f"ingestion:{project_id}"


def name_embedding_lock(project_id: str) -> str:
    return f"embedding:{project_id}"


@asynccontextmanager
async def hold_lock(
    locks: LockStore,
    name: str,
    holder: Holder,
    on_wait: Callable[[Lock], None] = lambda _: None,
) -> AsyncIterator[None]:
    """Wait for a lock and hold it. It is released if this process dies."""
    holder = replace(holder, token=new_id())  # two tasks of one process are two holders
    while not await locks.acquire(name, holder, LEASE):
        if (other := (await locks.held([name])).get(name)) is not None:
            on_wait(other)
        await asyncio.sleep(POLL_SECONDS)
    renewing = asyncio.create_task(_renew(locks, name, holder))
    try:
        yield
    finally:
        renewing.cancel()
        with suppress(asyncio.CancelledError):
            await renewing
        with suppress(StoreError):  # its lease ends anyway
            await locks.release(name, holder)


async def _renew(locks: LockStore, name: str, holder: Holder) -> None:
    while True:
        await asyncio.sleep(LEASE.total_seconds() / 3)
        with suppress(StoreError):
            await locks.acquire(name, holder, LEASE)
