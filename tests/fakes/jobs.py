"""Finished jobs, by their keys."""

from __future__ import annotations

from datetime import datetime

from ragforge.domain.schema import JOB
from ragforge.domain.work import Holder, fail, finish
from ragforge.ports.store import Store


async def finish_job(store: Store, key: str, holder: Holder) -> None:
    await store.jobs.settle(finish(await store.records.get(JOB, key)), holder)


async def fail_job(
    store: Store, key: str, holder: Holder, error: str, retry_at: datetime | None = None
) -> None:
    await store.jobs.settle(fail(await store.records.get(JOB, key), error, retry_at), holder)
