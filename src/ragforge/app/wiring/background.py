"""Background: the worker, with a handler for each kind of job."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path

from ragforge.adapters.stores.holders import is_gone, this_process
from ragforge.app.wiring.brain import INGEST_JOB, name_ingest_kind
from ragforge.app.wiring.models import is_by_model
from ragforge.app.wiring.trust import FolderTrust
from ragforge.brain.project import Brain
from ragforge.config.settings import Settings
from ragforge.domain.schema import NOTE
from ragforge.domain.text import Json
from ragforge.errors import ConversationNotFound, JobRefused
from ragforge.jobs.worker import Handler, Worker
from ragforge.llm.ask import ChatClient
from ragforge.memory import sessions
from ragforge.memory.code.pending_links import (
    LINK_AGAIN_JOB,
    LINK_JOB,
    link_again,
    link_or_wait,
    link_waiting,
)
from ragforge.memory.embed import (
    EMBED_JOB,
    EMBED_NOTES_JOB,
    MISSING_JOB,
    embed_items,
    embed_missing,
    embed_turns,
)
from ragforge.memory.record import SETTLE_JOB, TITLE_JOB, record_usage
from ragforge.memory.search.turns import MemorySearch
from ragforge.memory.summaries.condense import (
    SUMMARY_JOB,
    Condenser,
    ExtractiveSummariser,
    Summariser,
)
from ragforge.memory.summaries.due import Thresholds
from ragforge.ports.models import Embedder
from ragforge.ports.store import Store

KEEP_JOB = "keep-originals"
"""The kind of jobs that keep transcripts of other agents."""


def open_condenser(
    settings: Settings, store: Store, embedder: Embedder | None, chat: ChatClient | None
) -> Condenser:
    """Return the condenser; it summarises other agents' sessions by a model only on request."""
    memory = settings.agent.memory
    thresholds = Thresholds(
        memory.share(memory.l1_threshold_percent),
        memory.share(memory.l2_threshold_percent),
        memory.summarization.every_n_messages,
    )
    options = memory.summarization

    def open_summariser(by_model: bool) -> Summariser:
        if chat is None or not by_model:
            return ExtractiveSummariser()
        from ragforge.llm.executor import StructuredLLMExecutor
        from ragforge.memory.summaries.by_model import ModelSummariser

        return ModelSummariser(StructuredLLMExecutor(chat), chat.model.name)

    summariser = open_summariser(is_by_model(memory.write_by, settings.llm))
    of_others = open_summariser(options.imported_by_model)
    return Condenser(store, summariser, thresholds, embedder, options.enabled, is_gone, of_others)


def open_worker(
    settings: Settings,
    store: Store,
    recall: MemorySearch,
    brain: Brain,
    chat: ChatClient | None,
    condenser: Condenser,
    trust: FolderTrust,
    keep_originals: Handler,
) -> Worker:
    """Return a worker with a handler for every kind of job these settings can do.

    It ingests only the open project: a store may come with another user's project.
    """
    make_title: sessions.TitleMaker = sessions.title_from_question
    if chat is not None and is_by_model(settings.agent.memory.write_by, settings.llm):
        from ragforge.llm.executor import StructuredLLMExecutor
        from ragforge.memory.summaries.by_model import make_model_titler

        make_title = make_model_titler(StructuredLLMExecutor(chat))

    async def title(conversation_id: str) -> None:
        with suppress(ConversationNotFound):  # deleted meanwhile
            async with record_usage(store, conversation_id):
                await sessions.give_title(store, conversation_id, make_title)

    async def summarise(payload: Json) -> None:
        async with record_usage(store, payload["conversation"]):
            await condenser.work(payload)

    async def ingest(payload: Json) -> None:
        root, files = _read_ingestion(payload)
        if not isinstance(root, str) or Path(root) != brain.root:
            raise JobRefused(f"The job is for {root!r}, but the open project is {brain.root}.")
        if not trust.reads:
            raise JobRefused(trust.describe_unread())
        if not brain.root.is_dir():
            raise JobRefused(f"The folder {brain.root} does not exist.")
        await brain.ingest(paths=files)

    async def settle(payload: list[str]) -> None:
        conversation_id, turn_id = payload
        with suppress(ConversationNotFound):
            await link_or_wait(store, conversation_id, turn_id)
            await condenser.enqueue_due(conversation_id)

    handlers: dict[str, Handler] = {
        TITLE_JOB: title,
        SETTLE_JOB: settle,
        SUMMARY_JOB: summarise,
        INGEST_JOB: ingest,  # of earlier versions
        name_ingest_kind(brain.project_id): ingest,
        LINK_JOB: partial(link_waiting, store),
        KEEP_JOB: keep_originals,
        LINK_AGAIN_JOB: partial(link_again, store),
    }
    if (embedder := recall.embedder) is not None:
        handlers |= {
            EMBED_JOB: partial(embed_turns, store, embedder),
            EMBED_NOTES_JOB: partial(embed_items, store, NOTE, embedder),
            MISSING_JOB: lambda _: embed_missing(store, embedder),
        }
    return Worker(
        queue=store.jobs,
        holder=this_process(),
        handlers=handlers,
        lease=timedelta(seconds=settings.jobs.lease_seconds),
        max_attempts=settings.jobs.max_attempts,
    )


def _read_ingestion(payload: Json) -> tuple[Json, list[str] | None]:
    """Return the folder of an ingestion, and its files if any are named. Raises JobRefused."""
    if not isinstance(payload, dict):
        return payload, None
    files = payload.get("files")
    if not isinstance(files, list):
        raise JobRefused("The job lists no files.")
    names = [str(name) for name in files]
    for name in names:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise JobRefused(f"The job lists {name!r}, which is outside the project.")
    return payload.get("root"), names
