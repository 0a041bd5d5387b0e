"""Background: which jobs there are, and who does them."""

from __future__ import annotations

from datetime import timedelta

from ragforge.adapters.stores.holders import this_process
from ragforge.agent.turn import EMBED_JOB, TITLE_JOB
from ragforge.config.settings import Settings
from ragforge.domain.text import Json
from ragforge.jobs.worker import Handler, Worker
from ragforge.llm.ask import Asker
from ragforge.llm.executor import StructuredLLMExecutor
from ragforge.memory import titles
from ragforge.memory.embed import MISSING_JOB, embed_missing, embed_turns
from ragforge.memory.recall import Recall
from ragforge.ports.store import Store


def open_worker(settings: Settings, store: Store, recall: Recall, chat: Asker | None) -> Worker:
    """Return a worker with a handler for every kind of job these settings can do."""
    make_title: titles.TitleMaker = titles.from_question
    if chat is not None:
        make_title = titles.by_model(StructuredLLMExecutor(chat))

    async def title(conversation_id: str) -> None:
        await titles.give_title(store.conversations, conversation_id, make_title)

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
