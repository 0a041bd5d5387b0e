"""Opening: build the application from settings, and do its jobs while it is open."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.adapters.stores.holders import describe_process
from ragforge.app.application import App
from ragforge.app.wiring.brain import open_brain
from ragforge.app.wiring.identity import find_identity
from ragforge.app.wiring.mcp_client import open_servers
from ragforge.app.wiring.models import open_chat, open_embedder
from ragforge.app.wiring.projects import recognise_project
from ragforge.app.wiring.remaining_work import keep_up, start_detached_worker
from ragforge.app.wiring.stores import use_store
from ragforge.app.wiring.trust import FolderTrust
from ragforge.concurrency import gather_or_cancel
from ragforge.config.settings import Settings
from ragforge.domain.instants import now
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.summaries import Level
from ragforge.errors import StoreError
from ragforge.folders import find_project
from ragforge.llm.ask import Meter
from ragforge.memory.embed import enqueue_missing
from ragforge.memory.record import Recorder
from ragforge.memory.search.turns import MemorySearch
from ragforge.memory.sessions import normalise
from ragforge.ports.store import Store
from ragforge.tools.command.background import BackgroundCommands

if TYPE_CHECKING:
    from ragforge.llm.calls import Tool

log = logging.getLogger(__name__)


@asynccontextmanager
async def open_app(
    settings: Settings,
    cwd: Path,
    *,
    detach: bool = False,
    tools: Sequence[Tool] = (),
    trust_project: bool = False,
    work: bool = True,
    begin_after: float = 0.0,
) -> AsyncIterator[App]:
    """Open the store of the settings, and work through the queue while it is open.

    Without `work` the queue is left to other processes; it begins after `begin_after` seconds.

    Closing waits a little for jobs that are due. The rest is done by the next process that
    opens the store, or with `detach` by a separate process. With `trust_project` the folder's
    instruction files are obeyed and its files are read, whatever the user answered.
    """
    async with use_store(settings) as store, AsyncExitStack() as models:
        place = normalise(cwd)
        project = await recognise_project(settings, store, place)
        app = _build_app(settings, store, place, project, models, trust_project)
        # Without a worker, a program has to leave a long reading to another.
        detaches = settings.jobs.detach and (detach or not work)
        app = replace(app, tools=tools, detaches=detaches)
        if not work:
            yield app
            return
        stopping = asyncio.Event()
        working = asyncio.create_task(_work(app, stopping, begin_after))
        try:
            yield app
        finally:
            stopping.set()
            try:
                is_left = await asyncio.wait_for(working, settings.jobs.closing_seconds)
            except TimeoutError:
                is_left = True
            except StoreError as error:  # what was acknowledged is safe; the jobs stay queued
                log.warning("Jobs are left for later: %s", error)
                is_left = False
            if is_left and detach and settings.jobs.detach:
                start_detached_worker(settings, app.cwd)


def _build_app(
    settings: Settings,
    store: Store,
    cwd: Path,
    place: ProjectPlace,
    models: AsyncExitStack,
    trust_project: bool,
) -> App:
    meter = Meter(settings.llm.max_spend_usd)
    chat = open_chat(settings, meter)
    code_embedder = open_embedder(settings, meter)
    for model in (code_embedder, None if chat is None else chat.model):
        if model is not None:
            models.push_async_callback(model.close)
    background = BackgroundCommands()
    models.push_async_callback(background.close)
    memory = settings.agent.memory
    embedder = code_embedder if memory.embeddings.enabled else None
    project = find_project(cwd)
    trust = FolderTrust.of(settings, project, trust_project)
    identity = find_identity(settings)
    servers = open_servers(settings, project, trust)
    models.push_async_callback(servers.close)
    return App(
        cwd=cwd,
        project_path=project,
        store=store,
        recall=MemorySearch(store, embedder),
        brain=open_brain(settings, store, code_embedder, project, place),
        chat=chat,
        settings=settings,
        recorder=Recorder(
            store,
            embedder.name if embedder else None,
            memory.max_result_chars,
            describe_process(),
            identity.author,
        ),
        identity=identity,
        background=background,
        meter=meter,
        models=models,
        trust=trust,
        servers=servers,
    )


async def _work(app: App, stopping: asyncio.Event, begin_after: float) -> bool:
    """Do the queued jobs and what earlier versions left undone; return whether upkeep is left."""
    with suppress(TimeoutError):
        await asyncio.wait_for(stopping.wait(), begin_after)
    with suppress(StoreError):
        await _trim_by_age(app)
    if app.recall.embedder is not None:
        with suppress(StoreError):
            await enqueue_missing(app.store, app.recall.embedder)
    _, _, is_left = await gather_or_cancel(
        app.worker.run(stopping),
        _follow_agents(app, stopping),
        keep_up(app.store, app.worker.holder, stopping),
    )
    return is_left


async def _follow_agents(app: App, stopping: asyncio.Event) -> None:
    """Import what other agents write, if the user imported from them before."""
    try:
        await app.imports.follow(stopping)
    except StoreError as error:  # what is not imported now is imported later
        log.warning("The sessions of other agents are not followed: %s", error)


async def _trim_by_age(app: App) -> None:
    """Delete the summaries of this project that are older than the user wants them."""
    memory = app.settings.agent.memory
    ages: tuple[tuple[Level, int | None], ...] = (
        (1, memory.trim_l1_after_days),
        (2, memory.trim_l2_after_days),
    )
    for level, days in ages:
        if days is not None:
            await app.memory.trim_summaries(now() - timedelta(days=days), level)
