"""Upkeep: what users do about their memory by hand."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass

from ragforge.app.application import App
from ragforge.domain.conversations import Conversation, ConversationFilter
from ragforge.domain.summaries import Summary, SummaryFilter
from ragforge.domain.work import JobStatus
from ragforge.jobs.worker import POLL_SECONDS
from ragforge.memory.embed import embed_missing
from ragforge.memory.summaries.condense import SUMMARY_JOB

PAGE = 200


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What there is after a rebuild."""

    conversations: int
    summaries: int
    failed_jobs: int


async def rebuild(
    app: App, everywhere: bool, anew: bool, on_progress: Callable[[int, int], None]
) -> Rebuilt:
    """Make what summaries and vectors are due now; `anew` throws the old summaries away first.

    Tells how many conversations of how many it has dealt with. A model that fails leaves
    its jobs for later.
    """
    found = [one async for one in _conversations(app, everywhere)]
    for done, conversation in enumerate(found):
        on_progress(done, len(found))
        if anew:
            await _forget(app, conversation.uuid)
        await app.condenser.enqueue_due(conversation.uuid)
        await _drain(app)
    if app.recall.embedder is not None:
        await embed_missing(app.store, app.recall.embedder)
    on_progress(len(found), len(found))
    counts = [len(await _summaries(app, one.uuid)) for one in found]
    failed = (await app.store.jobs.counts())["dead"]
    return Rebuilt(len(found), sum(counts), failed)


async def work_until_done(app: App, seconds: float) -> Mapping[JobStatus, int]:
    """Wait while the application's worker does what is queued; return how many jobs there are.

    Jobs that wait for another try are waited for, and those that other processes do.
    """
    ends = time.monotonic() + seconds
    counts = await app.store.jobs.counts()
    while counts["pending"] + counts["running"] and time.monotonic() < ends:
        await asyncio.sleep(POLL_SECONDS / 4)
        counts = await app.store.jobs.counts()
    return counts


async def retry_failed(app: App) -> int:
    """Give every job that failed for good another chance; return how many there were."""
    dead = await app.store.jobs.find(status="dead", limit=100_000)
    for job in dead:
        await app.store.jobs.revive(job.key)
    return len(dead)


async def _drain(app: App) -> None:
    """Do what is queued, and wait for summaries that are being made beside: others follow them."""
    await app.worker.drain()
    while any(job.kind == SUMMARY_JOB for job in await app.store.jobs.find("running")):
        await asyncio.sleep(POLL_SECONDS / 4)
        await app.worker.drain()


async def _forget(app: App, conversation_id: str) -> None:
    """Delete the summaries of a conversation, and forget that others were trimmed."""
    for level in (1, 2):  # with a short-term one goes what is built on it
        for summary in await app.store.summaries.find(SummaryFilter(conversation_id, level=level)):
            await app.store.summaries.delete(summary.uuid)
    await app.store.summaries.forget_trims(conversation_id)


async def _summaries(app: App, conversation_id: str) -> Sequence[Summary]:
    return await app.store.summaries.find(SummaryFilter(conversation_id))


async def _conversations(app: App, everywhere: bool) -> AsyncIterator[Conversation]:
    where = ConversationFilter(project_path=None if everywhere else str(app.project_path))
    offset = 0
    while page := await app.store.conversations.find(where, PAGE, offset):
        for conversation in page:
            yield conversation
        offset += len(page)
