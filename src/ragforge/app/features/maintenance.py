"""Maintenance: rebuild summaries and vectors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from ragforge.app.wiring.open_project import OpenProject
from ragforge.app.wiring.remaining_work import do_upkeep
from ragforge.domain.conversations import Conversation, ConversationFilter
from ragforge.domain.schema import CONVERSATION, JOB, SUMMARY, TURN
from ragforge.domain.summaries import SummaryFilter
from ragforge.domain.turns import name_turn_model
from ragforge.domain.work import JobFilter
from ragforge.errors import InputError
from ragforge.jobs.worker import POLL_SECONDS, Worker
from ragforge.memory.embed import embed_missing
from ragforge.memory.summaries.condense import SUMMARY_JOB, Condenser
from ragforge.ports.models import Embedder
from ragforge.records import dataclass

PAGE = 200


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """The result of a rebuild."""

    conversations: int
    summaries: int
    failed_jobs: int


@dataclass(frozen=True, slots=True)
class EmbeddedMemory:
    """How many turns have a vector of the current model."""

    model: str
    turns: int
    missing: int


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Maintenance of a whole store or project, started by the user."""

    project: OpenProject
    condenser: Condenser
    worker: Worker

    async def rebuild(
        self, everywhere: bool, recreate: bool, on_progress: Callable[[int, int], None]
    ) -> RebuildReport:
        """Make the summaries and vectors that are due now; `recreate` deletes the old ones first.

        Reports the number of finished conversations and of all. Jobs of a failed model stay queued.
        """
        found = [one async for one in self._conversations(everywhere)]
        for done, conversation in enumerate(found):
            on_progress(done, len(found))
            if recreate:
                await self._delete_summaries(conversation.uuid)
            await self.condenser.enqueue_due(conversation.uuid)
            await self._drain()
        if self.project.recall.embedder is not None:
            await embed_missing(self.project.store, self.project.recall.embedder)
        on_progress(len(found), len(found))
        find = self.project.store.records.find
        counts = [len(await find(SUMMARY, SummaryFilter(one.uuid))) for one in found]
        failed = (await self.project.store.jobs.count()).by_status["dead"]
        return RebuildReport(len(found), sum(counts), failed)

    async def finish_upkeep(self, seconds: float) -> None:
        """Do the upkeep of the store that is due, up to a number of seconds."""
        await do_upkeep(self.project.store, self.worker.holder, seconds)

    async def count_embedded(self) -> EmbeddedMemory:
        """Return how many turns have a vector of the model. Raises InputError if there is none."""
        embedder = self._require_embedder()
        missing, turns = await self.project.store.index.count_pending(
            TURN, name_turn_model(embedder.name)
        )
        return EmbeddedMemory(embedder.name, turns, missing)

    async def embed_memory(self, on_progress: Callable[[int], None]) -> EmbeddedMemory:
        """Give every turn a vector of the current model, now.

        Raises InputError if there is no model, ModelError if it fails.
        """
        await embed_missing(self.project.store, self._require_embedder(), on_progress)
        return await self.count_embedded()

    def _require_embedder(self) -> Embedder:
        if self.project.recall.embedder is None:
            raise InputError(
                "Memory is searched only by words: embeddings.model is none, or "
                "agent.memory.embeddings.enabled is false."
            )
        return self.project.recall.embedder

    async def _drain(self) -> None:
        """Do the queued jobs, and wait for running summaries: others follow them."""
        await self.worker.drain()
        running = JobFilter("running")
        while any(
            one.kind == SUMMARY_JOB for one in await self.project.store.records.find(JOB, running)
        ):
            await asyncio.sleep(POLL_SECONDS / 4)
            await self.worker.drain()

    async def _delete_summaries(self, conversation_id: str) -> None:
        """Delete the summaries of a conversation, and forget that others were trimmed."""
        records = self.project.store.records
        for level in (1, 2):  # with a short-term one goes what is built on it
            for summary in await records.find(SUMMARY, SummaryFilter(conversation_id, level=level)):
                await records.delete(SUMMARY, summary.uuid)
        await self.project.store.timeline.forget_trims(conversation_id)

    async def _conversations(self, everywhere: bool) -> AsyncIterator[Conversation]:
        project_ids = None if everywhere else self.project.brain.place.ids
        where = ConversationFilter(project_ids=project_ids, own=True)
        offset = 0
        while page := await self.project.store.records.find(CONVERSATION, where, PAGE, offset):
            for conversation in page:
                yield conversation
            offset += len(page)
