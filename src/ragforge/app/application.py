"""The application, opened in a directory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from pydantic import BaseModel

from ragforge.adapters.stores.holders import describe_process
from ragforge.app.background import ingest_job, is_project, open_condenser, open_worker
from ragforge.app.code import open_brain, search_code
from ragforge.app.detached_worker import work_elsewhere
from ragforge.app.models import needed, open_chat, open_embedder
from ragforge.app.stores import open_store
from ragforge.brain.ingestion.report import OnStep
from ragforge.brain.project import Brain
from ragforge.brain.search.code import CodeHit
from ragforge.config.settings import Settings
from ragforge.domain.conversations import Conversation, ConversationFilter, MemoryFilter
from ragforge.domain.hits import HistoryHit, NoteHit
from ragforge.domain.instants import now
from ragforge.domain.summaries import Level, Summary
from ragforge.domain.text import Json
from ragforge.errors import ConversationNotFound, InputError, StoreError
from ragforge.jobs.worker import Worker
from ragforge.llm.analyze import batch_analyze
from ragforge.llm.executor import StructuredLLMExecutor
from ragforge.llm.results import BatchResult, OnProgress
from ragforge.llm.spend import Meter
from ragforge.memory import sessions
from ragforge.memory.code.age import StaleCode, find_stale
from ragforge.memory.embed import embed_missing, enqueue_missing
from ragforge.memory.history import History
from ragforge.memory.notes import Notebook
from ragforge.memory.recall import Recall
from ragforge.memory.record import Recorder
from ragforge.memory.search_with_notes import search_memory
from ragforge.memory.summaries.condense import Condenser
from ragforge.ports.store import Store

if TYPE_CHECKING:
    from ragforge.agent.events import OnEvent
    from ragforge.agent.permissions import Approve
    from ragforge.agent.turn import Agent
    from ragforge.context.build import ContextBuilder, ContextOptions, EnrichedContext
    from ragforge.domain.answers import Answer
    from ragforge.domain.receipts import Receipt
    from ragforge.llm.ask import Asker
    from ragforge.llm.calls import Tool
    from ragforge.memory.code.about import ConversationAbout

log = logging.getLogger(__name__)


class _Door(TypedDict):
    on_event: OnEvent
    approve: Approve


LATEST_TURNS = 5


@dataclass(frozen=True)
class App:
    """RagForge, opened in a directory."""

    cwd: Path
    project_path: Path
    store: Store
    recall: Recall
    brain: Brain
    chat: Asker | None
    settings: Settings
    recorder: Recorder
    condenser: Condenser
    history: History
    worker: Worker
    meter: Meter
    keeps_known: bool  # whether asking brings the project's code up to date beside the answer
    tools: Sequence[Tool] = ()  # of the program's own

    @cached_property
    def context(self) -> ContextBuilder:
        """What builds the context of a message; most commands need none of it."""
        from ragforge.app.context import open_context

        return open_context(self.settings, self.store, self.recall, self.brain, self.chat)

    @cached_property
    def notebook(self) -> Notebook:
        """The notes of this store."""
        return Notebook(self.store, self.recall.embedder)

    @cached_property
    def agent(self) -> Agent:
        """What takes turns."""
        from ragforge.app.agent import open_agent

        return open_agent(self)

    async def ask(
        self,
        question: str,
        session: str | None = None,
        *,
        on_event: OnEvent | None = None,
        approve: Approve | None = None,
    ) -> Answer:
        """Answer in a session, given by its id, or in the current one of the directory.

        A door that listens is told every event; one that approves is asked before anything is
        changed, and without one nothing is. Cancelled, the turn is stored as far as it went.
        Raises InputError if the question is empty.
        """
        if not question.strip():
            raise InputError("The question is empty. Ask something.")
        if session is None:
            conversations = self.store.conversations
            session = (
                await sessions.get_current_session(conversations, self.cwd, self.project_path)
            ).uuid
        answer = await self.agent.take_turn(session, question, **_door(on_event, approve))
        await self.keep_known()
        return answer

    async def retry(
        self,
        session: str,
        *,
        on_event: OnEvent | None = None,
        approve: Approve | None = None,
    ) -> Answer:
        """Go on with the last turn of a session, which broke off or has no answer.

        Raises InputError if there is none.
        """
        return await self.agent.resume_turn(session, **_door(on_event, approve))

    async def keep_known(self) -> bool:
        """Have the project's code brought up to date in the background, where that is wanted."""
        wanted = self.keeps_known and (await self.brain.is_known() or is_project(self.project_path))
        if wanted:
            await self.store.jobs.enqueue([ingest_job(self.brain)])
        return wanted

    async def build_context(
        self, message: str, options: ContextOptions | None = None
    ) -> EnrichedContext:
        """Return the context that a message would get in the current session; nothing is stored.

        Raises InputError if the message is empty.
        """
        if not message.strip():
            raise InputError("The message is empty. Say something.")
        known = ConversationFilter(cwd=str(self.cwd), status="active")
        found = await self.store.conversations.find(known, limit=1)
        nobody = Conversation(cwd=str(self.cwd), project_path=str(self.project_path))
        talk = found[0] if found else nobody
        return await self.context.build_enriched_context(talk, message, options=options)

    async def last_receipt(self) -> Receipt | None:
        """Return the account of the last answer's context in the current session, if any."""
        known = ConversationFilter(cwd=str(self.cwd), status="active")
        for conversation in await self.store.conversations.find(known, limit=1):
            return await self.receipt_in(conversation.uuid)
        return None

    async def receipt_in(self, session: str) -> Receipt | None:
        """Return the account of the last answer's context in a session, if one of its latest
        turns has any.

        Raises ConversationNotFound.
        """
        from ragforge.domain.receipts import read_receipt

        conversations = self.store.conversations
        first = max(0, (await conversations.get(session)).turn_count - LATEST_TURNS)
        for message in reversed(await conversations.messages(session, first)):
            if message.receipt is not None:
                return read_receipt(message.receipt)
        return None

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

    async def search_conversation_history(
        self,
        query: str,
        *,
        semantic: bool = True,
        max_results: int = 10,
        include_turns: bool = True,
        include_notes: bool | None = None,
        levels: Collection[int] = (0, 1, 2),
        min_score: float = 0.0,
        since: datetime | None = None,
        until: datetime | None = None,
        session: str | None = None,
        everywhere: bool = False,
    ) -> list[HistoryHit]:
        """Return turns, summaries and notes that bear on the query, the best first.

        Level 0 are turns, 1 and 2 summaries: `levels=[2]` gives long-term summaries alone.
        They are of one session, given by the start of its id, of this project, or of all.
        Notes are there where turns are, unless `include_notes` says otherwise.
        Raises InputError if the session is not known, or several begin so.
        """
        one = None if session is None else (await self.session_called(session)).uuid
        project = None if everywhere or one else str(self.project_path)
        return await search_memory(
            self.recall,
            self.notebook,
            query,
            MemoryFilter(one, project, since, until),
            semantic=semantic,
            max_results=max_results,
            include_turns=include_turns,
            include_notes=include_notes,
            levels=levels,
            min_score=min_score,
        )

    async def ages_of(self, hits: Sequence[HistoryHit]) -> list[list[StaleCode]]:
        """Return for each hit what has become of the code that it is about."""
        found: list[list[StaleCode]] = []
        for hit in hits:
            if isinstance(hit, NoteHit):
                found.append([])
                continue
            conversation = await self.store.conversations.get(hit.conversation_id)
            found.append(await find_stale(self.store, conversation.project_path, hit))
        return found

    async def find_conversations_about(
        self, name: str, *, everywhere: bool = False
    ) -> list[ConversationAbout]:
        """Return the conversations of this project, or of all, that edited, read or named a file,
        a directory or something in the code, and what became of it since.

        The last active come first. The name may be gone by now. Raises InputError if it may
        mean several files.
        """
        from ragforge.memory.code.about import find_conversations_about
        from ragforge.tools.command.run import CommandRunner
        from ragforge.tools.git_history import GitHistory

        log = GitHistory(CommandRunner(self.project_path))
        return await find_conversations_about(
            self.store, name, self.cwd, self.project_path, log=log, everywhere=everywhere
        )

    async def get_summaries_mentioning_file(self, path: str) -> list[Summary]:
        """Return the summaries of this project that mention a file, newest first.

        The path is seen from the directory or the project; the file may be gone. Raises
        InputError if it may mean several files.
        """
        from ragforge.memory.code.about import resolve_subject

        subject = await resolve_subject(self.store.code, path, self.cwd, self.project_path)
        found: dict[str, Summary] = {}
        for file in subject.files:
            summaries = await self.history.get_summaries_mentioning_file(
                file, str(self.project_path)
            )
            found |= {summary.uuid: summary for summary in summaries}
        return sorted(found.values(), key=lambda summary: summary.created_at, reverse=True)

    async def session_called(self, start: str) -> Conversation:
        """Return the session whose id starts so.

        Raises InputError if there is none, or more than one.
        """
        try:
            return await sessions.resolve_session(self.store.conversations, start)
        except ConversationNotFound as error:
            raise InputError(
                f"No session has an id that starts with {start.strip()!r}. "
                "`ragforge sessions list --all --status any` lists them."
            ) from error

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
        executor = StructuredLLMExecutor(needed(self.chat))
        return await batch_analyze(executor, items, task, output_schema, on_progress=on_progress)

    async def embed_memory(self, on_progress: Callable[[int], None]) -> tuple[int, int]:
        """Give every turn a vector of the current model, now.

        Returns how many turns have none afterwards, and how many turns there are.
        Raises ModelError if the model fails.
        """
        conversations, embedder = self.store.conversations, self.recall.embedder
        if embedder is None:
            raise InputError(
                "Memory is searched by words alone: embeddings.model is none, or "
                "agent.memory.embeddings.enabled is false."
            )
        await embed_missing(self.store, embedder, on_progress)
        return await conversations.count_turns_to_embed(embedder.name)


def _door(on_event: OnEvent | None, approve: Approve | None) -> _Door:
    """Return who hears of a turn and who allows what changes something: nobody, if not given."""
    from ragforge.agent.events import ignore_event
    from ragforge.agent.permissions import deny_all

    return {"on_event": on_event or ignore_event, "approve": approve or deny_all}


@asynccontextmanager
async def open_app(
    settings: Settings, cwd: Path, *, detach: bool = False, tools: Sequence[Tool] = ()
) -> AsyncIterator[App]:
    """Open the store of the settings, and work through the queue while it is open.

    Closing waits a little for jobs that are due. What is left then is done by whoever opens
    the store next, or with `detach` by a process of its own.
    """
    store = await open_store(settings)
    try:
        app = replace(_wired(settings, store, sessions.normalise(cwd)), tools=tools)
        stopping = asyncio.Event()
        working = asyncio.create_task(_work(app, stopping))
        try:
            yield app
        finally:
            stopping.set()
            try:
                await asyncio.wait_for(working, settings.jobs.closing_seconds)
            except TimeoutError:
                if detach and settings.jobs.detach:
                    work_elsewhere(settings, app.cwd)
            except StoreError as error:  # what was acknowledged is safe; the jobs stay queued
                log.warning("Jobs are left for later: %s", error)
            await _close_models(app)
    finally:
        await store.close()


async def _close_models(app: App) -> None:
    if app.chat is not None:
        await app.chat.model.close()
    if app.brain.finder.embedder is not None:  # that of memory is the same, where it has one
        await app.brain.finder.embedder.close()


def _wired(settings: Settings, store: Store, place: Path) -> App:
    meter = Meter(settings.llm.max_spend_usd)
    chat = open_chat(settings, meter)
    of_code = open_embedder(settings, meter)
    memory = settings.agent.memory
    embedder = of_code if memory.embeddings.enabled else None
    recall = Recall(store.conversations, embedder, store.summaries)
    project = sessions.find_project(place)
    brain = open_brain(settings, store, of_code, project)
    name = embedder.name if embedder else None
    recorder = Recorder(store, name, memory.max_result_chars, describe_process())
    condenser = open_condenser(settings, store, embedder, chat)
    return App(
        cwd=place,
        project_path=project,
        store=store,
        recall=recall,
        brain=brain,
        chat=chat,
        settings=settings,
        recorder=recorder,
        condenser=condenser,
        history=History(store),
        worker=open_worker(settings, store, recall, brain, chat, condenser),
        meter=meter,
        keeps_known=settings.brain.ingest_automatically,
    )


async def _trim_by_age(app: App) -> None:
    """Delete the summaries of this project that are older than the user wants them."""
    memory = app.settings.agent.memory
    ages: tuple[tuple[Level, int | None], ...] = (
        (1, memory.trim_l1_after_days),
        (2, memory.trim_l2_after_days),
    )
    for level, days in ages:
        if days is not None:
            before, project = now() - timedelta(days=days), str(app.project_path)
            await app.history.trim_summaries_by_date(before, level, project_path=project)


async def _work(app: App, stopping: asyncio.Event) -> None:
    """Do what is queued, and what an earlier model or version left undone."""
    with suppress(StoreError):
        await _trim_by_age(app)
    if app.recall.embedder is not None:
        with suppress(StoreError):
            await enqueue_missing(app.store, app.recall.embedder)
    await app.worker.run(stopping)
