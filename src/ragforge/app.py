"""The application: everything wired together from settings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from ragforge.adapters.stores.holders import this_process
from ragforge.agent.turn import EMBED_JOB, TITLE_JOB, Answer, take_turn
from ragforge.config.environment import neo4j_credentials
from ragforge.config.settings import Settings
from ragforge.config.store_url import is_server
from ragforge.context.gather import Budget
from ragforge.domain.conversations import ConversationFilter, MemoryFilter
from ragforge.domain.text import Json
from ragforge.errors import InputError, StoreError
from ragforge.jobs.worker import Handler, Worker
from ragforge.memory import sessions
from ragforge.memory.embed import MISSING_JOB, embed_missing, embed_turns, enqueue_missing
from ragforge.memory.recall import Recall, TurnHit
from ragforge.memory.sessions import SessionLine
from ragforge.memory.transfer import CopyProgress, CopyReport, copy
from ragforge.ports.embedder import Embedder
from ragforge.ports.store import Store
from ragforge.search.tokenise import WORDS

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
    worker: Worker
    budget: Budget

    async def ask(self, question: str) -> Answer:
        """Answer in the current session of the directory.

        Raises InputError if the question is empty.
        """
        if not question.strip():
            raise InputError("The question is empty. Ask something.")
        store = self.store
        session = await sessions.current(store.conversations, self.cwd, self.project_path)
        return await take_turn(self.recall, store.jobs, session.uuid, question, self.budget)

    async def search_memory(self, query: str, limit: int, everywhere: bool) -> list[TurnHit]:
        """Return past turns of this project, or of all, that bear on the query."""
        project = None if everywhere else str(self.project_path)
        where = MemoryFilter(project_path=project)
        return await self.recall.turns(query, where, limit)

    async def sessions(self, everywhere: bool) -> list[SessionLine]:
        """Return the sessions of this directory, or all, the last active first."""
        where = ConversationFilter(cwd=None if everywhere else str(self.cwd))
        return await sessions.lines(self.store.conversations, where, SESSIONS_SHOWN)


@asynccontextmanager
async def open_app(settings: Settings, cwd: Path) -> AsyncIterator[App]:
    """Open the store of the settings, and work through the queue while it is open."""
    store = await open_store(settings)
    try:
        recall = Recall(store.conversations, open_embedder(settings))
        worker = _worker(settings, store, recall)
        place = sessions.normalise(cwd)
        memory = settings.agent.memory
        budget = Budget(
            recent_turns=memory.max_context_chars * memory.recent_turns_percent // 100,
            found_turns=memory.max_context_chars * memory.recent_turns_percent // 100,
        )
        app = App(place, sessions.project_of(place), store, recall, worker, budget)
        stopping = asyncio.Event()
        working = asyncio.create_task(_work(app, stopping))
        try:
            yield app
        finally:
            stopping.set()
            with suppress(StoreError, TimeoutError):
                await asyncio.wait_for(working, LAST_JOBS_SECONDS)
    finally:
        await store.close()


async def _work(app: App, stopping: asyncio.Event) -> None:
    """Do what is queued, and what an earlier model or version left undone."""
    if app.recall.embedder is not None:
        with suppress(StoreError):
            await enqueue_missing(app.store.conversations, app.store.jobs, app.recall.embedder)
    await app.worker.run(stopping)


def _worker(settings: Settings, store: Store, recall: Recall) -> Worker:
    async def title(conversation_id: str) -> None:
        await sessions.give_title(store.conversations, conversation_id)

    handlers: dict[str, Handler] = {TITLE_JOB: title}
    if (embedder := recall.embedder) is not None:

        async def embed(turn_ids: list[str]) -> None:
            await embed_turns(store.conversations, embedder, turn_ids)

        async def catch_up(_: Json) -> None:
            await embed_missing(store.conversations, embedder)

        handlers |= {EMBED_JOB: embed, MISSING_JOB: catch_up}
    return Worker(
        queue=store.jobs,
        holder=this_process(),
        handlers=handlers,
        lease=timedelta(seconds=settings.jobs.lease_seconds),
        max_attempts=settings.jobs.max_attempts,
    )


def open_embedder(settings: Settings) -> Embedder | None:
    """Return the embedding model of the settings, or None where words must do."""
    if settings.embeddings.model == "none":
        return None
    from ragforge.adapters.embedders.bundled import BundledEmbedder

    return BundledEmbedder()


async def open_store(settings: Settings, url: str | None = None) -> Store:
    """Open the store of the settings, or the one at a URL.

    Raises a StoreUnavailable that says what is wrong and what to do.
    """
    place = url or settings.store.url
    if is_server(place):
        from ragforge.adapters.stores.neo4j.store import open_neo4j

        user, password = neo4j_credentials() or (None, None)
        return await open_neo4j(
            place,
            WORDS,
            user=user,
            password=password,
            database=settings.store.neo4j_database,
        )
    from ragforge.adapters.stores.sqlite.store import open_sqlite

    return await open_sqlite(place, WORDS)


async def copy_store(
    source: str, target: str, settings: Settings, on_progress: Callable[[CopyProgress], None]
) -> CopyReport:
    """Copy everything in one store to another; a broken-off copy goes on where it was.

    Raises InputError if both are the same.
    """
    if source == target:
        raise InputError(f"{source} is both source and target. Name two stores.")
    origin = await open_store(settings, source)
    try:
        destination = await open_store(settings, target)
        try:
            return await copy(origin.archive, destination.archive, f"copy:{source}", on_progress)
        finally:
            await destination.close()
    finally:
        await origin.close()
