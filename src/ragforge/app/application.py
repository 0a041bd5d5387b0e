"""The application, opened in a directory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ragforge.agent.answer import Answer
from ragforge.agent.turn import Agent
from ragforge.app.background import ingest_job, is_project, open_worker
from ragforge.app.code import open_brain, search_code
from ragforge.app.models import needed, open_chat, open_embedder
from ragforge.app.stores import open_store
from ragforge.brain.find import CodeHit
from ragforge.brain.ingest import OnStep
from ragforge.brain.project import Brain
from ragforge.config.settings import Settings
from ragforge.context.gather import Budget
from ragforge.domain.conversations import ConversationFilter, MemoryFilter
from ragforge.domain.text import Json
from ragforge.errors import InputError, StoreError
from ragforge.jobs.worker import Worker
from ragforge.llm.analyze import batch_analyze
from ragforge.llm.executor import StructuredLLMExecutor
from ragforge.llm.results import BatchResult, OnProgress
from ragforge.llm.spend import Meter
from ragforge.memory import sessions
from ragforge.memory.embed import embed_missing, enqueue_missing
from ragforge.memory.recall import Recall, TurnHit
from ragforge.memory.sessions import SessionLine
from ragforge.ports.store import Store

LAST_JOBS_SECONDS = 5.0
"""How long closing may wait for jobs that are due; other processes do what is left."""
SESSIONS_SHOWN = 1_000


@dataclass(frozen=True, slots=True)
class App:
    """RagForge, opened in a directory."""

    cwd: Path
    project_path: Path
    store: Store
    recall: Recall
    brain: Brain
    agent: Agent
    worker: Worker
    meter: Meter
    keeps_known: bool  # whether asking brings the project's code up to date beside the answer

    async def ask(self, question: str) -> Answer:
        """Answer in the current session of the directory.

        Raises InputError if the question is empty.
        """
        if not question.strip():
            raise InputError("The question is empty. Ask something.")
        conversations = self.store.conversations
        session = await sessions.current(conversations, self.cwd, self.project_path)
        answer = await self.agent.take_turn(session.uuid, question)
        if self.keeps_known and (await self.brain.is_known() or is_project(self.project_path)):
            await self.store.jobs.enqueue([ingest_job(self.brain)])
        return answer

    async def search_code(
        self,
        question: str,
        limit: int,
        under: str | None = None,
        on_step: OnStep = lambda _: None,
    ) -> list[CodeHit]:
        """Return the code of this project that bears on the question; `under` is a path in it.

        A project that is not known yet is ingested first, which tells its steps.
        """
        return await search_code(self.brain, question, limit, under, on_step)

    async def search_memory(self, query: str, limit: int, everywhere: bool) -> list[TurnHit]:
        """Return past turns of this project, or of all, that bear on the query."""
        project = None if everywhere else str(self.project_path)
        where = MemoryFilter(project_path=project)
        return await self.recall.turns(query, where, limit)

    async def sessions(self, everywhere: bool) -> list[SessionLine]:
        """Return the sessions of this directory, or all, the last active first."""
        where = ConversationFilter(cwd=None if everywhere else str(self.cwd))
        return await sessions.lines(self.store.conversations, where, SESSIONS_SHOWN)

    async def batch_analyze(
        self,
        items: Sequence[Json],
        task: str,
        output_schema: type[BaseModel] | Mapping[str, Any],
        on_progress: OnProgress | None = None,
    ) -> BatchResult[BaseModel]:
        """Have the chat model do a task for every item; the outputs have the given shape.

        Raises ModelMissing if no chat model is configured, InputError for a bad schema.
        """
        executor = StructuredLLMExecutor(needed(self.agent.chat))
        return await batch_analyze(executor, items, task, output_schema, on_progress=on_progress)

    async def embed_memory(self, on_progress: Callable[[int], None]) -> tuple[int, int]:
        """Give every turn a vector of the current model, now.

        Returns how many turns have none afterwards, and how many turns there are.
        Raises ModelError if the model fails.
        """
        conversations, embedder = self.store.conversations, self.recall.embedder
        if embedder is None:
            raise InputError("embeddings.model is none: memory is searched by words alone.")
        await embed_missing(conversations, embedder, on_progress)
        return await conversations.count_turns_to_embed(embedder.name)


@asynccontextmanager
async def open_app(settings: Settings, cwd: Path) -> AsyncIterator[App]:
    """Open the store of the settings, and work through the queue while it is open."""
    store = await open_store(settings)
    try:
        app = _wired(settings, store, sessions.normalise(cwd))
        stopping = asyncio.Event()
        working = asyncio.create_task(_work(app, stopping))
        try:
            yield app
        finally:
            stopping.set()
            with suppress(StoreError, TimeoutError):
                await asyncio.wait_for(working, LAST_JOBS_SECONDS)
            await _close_models(app)
    finally:
        await store.close()


async def _close_models(app: App) -> None:
    if app.agent.chat is not None:
        await app.agent.chat.model.close()
    if app.recall.embedder is not None:
        await app.recall.embedder.close()


def _wired(settings: Settings, store: Store, place: Path) -> App:
    meter = Meter(settings.llm.max_spend_usd)
    chat = open_chat(settings, meter)
    embedder = open_embedder(settings, meter)
    recall = Recall(store.conversations, embedder)
    project = sessions.project_of(place)
    brain = open_brain(settings, store, embedder, project)
    memory = settings.agent.memory
    budget = Budget(
        code=memory.max_context_chars * memory.code_search_percent // 100,
        recent_turns=memory.max_context_chars * memory.recent_turns_percent // 100,
        found_turns=memory.max_context_chars * memory.recent_turns_percent // 100,
    )
    return App(
        cwd=place,
        project_path=project,
        store=store,
        recall=recall,
        brain=brain,
        agent=Agent(recall, brain, store.jobs, chat, budget),
        worker=open_worker(settings, store, recall, brain, chat),
        meter=meter,
        keeps_known=settings.brain.ingest_automatically,
    )


async def _work(app: App, stopping: asyncio.Event) -> None:
    """Do what is queued, and what an earlier model or version left undone."""
    if app.recall.embedder is not None:
        with suppress(StoreError):
            await enqueue_missing(app.store.conversations, app.store.jobs, app.recall.embedder)
    await app.worker.run(stopping)
