"""Pending links: link turns to code that was not ingested when the turns were stored.

A turn waits while its project was not ingested completely, or while a file that it edited is not
ingested. Every ingestion checks whether turns wait, and queues one durable job that links them.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from ragforge.domain.code import ProjectFilter
from ragforge.domain.instants import now
from ragforge.domain.schema import CONVERSATION, MESSAGE, PROJECT, SUMMARY
from ragforge.domain.summaries import SummaryFilter
from ragforge.domain.work import NewJob
from ragforge.errors import ConversationNotFound
from ragforge.ports.store import Store

LINK_JOB = "link_turns"
LINK_AGAIN_JOB = "link_turns_again"
PAGE = 200
MANY = 10_000
WAITS = timedelta(days=1)
"""How long a turn waits for its edits to be ingested. Later the code may have changed again."""


async def link_or_wait(store: Store, conversation_id: str, turn_id: str) -> None:
    """Link a turn to code, and mark it if that must be repeated when more is known.

    Raises ConversationNotFound.
    """
    from ragforge.memory.code.links import find_project, link_to_project  # slow to import

    conversation = await store.records.get(CONVERSATION, conversation_id)
    project = await find_project(store.records, conversation)
    is_done = project is not None and await link_to_project(store, turn_id, conversation, project)
    await store.timeline.set_link_pending([turn_id], not is_done)
    if project is None and await find_project(store.records, conversation) is not None:
        # The ingestion finished before this turn waited.
        await enqueue_links(store, [conversation.project_id])


async def enqueue_links(store: Store, project_ids: Sequence[str]) -> bool:
    """Queue the linking of the waiting turns of a project; return whether there are any."""
    waiting = await store.timeline.turns_to_link(project_ids, 1)
    if waiting:
        await store.jobs.enqueue([_make_job(store, "link", LINK_JOB, project_ids)], again=True)
    return bool(waiting)


async def enqueue_links_again(store: Store, project_ids: Sequence[str]) -> None:
    """Queue, once a project, the linking of turns that earlier versions stored without links."""
    if await store.timeline.turns_to_link(project_ids, 1, waiting=False):
        job = _make_job(store, "link-again", LINK_AGAIN_JOB, project_ids)
        await store.jobs.enqueue([job])


def _make_job(store: Store, name: str, kind: str, project_ids: Sequence[str]) -> NewJob:
    whose = f"{store.viewer}:" if store.viewer else ""  # everybody links their own
    return NewJob(f"{name}:{whose}{project_ids[0]}", kind, list(project_ids))


async def link_again(store: Store, project_ids: Sequence[str]) -> int:
    """Link the turns of a project that wait, and those without links; return how many are done."""
    while turns := await store.timeline.turns_to_link(project_ids, MANY, waiting=False):
        await store.timeline.set_link_pending(list(turns), True)
    return await link_waiting(store, project_ids)


async def link_waiting(store: Store, project_ids: Sequence[str]) -> int:
    """Link the waiting turns of a project, and their summaries; return how many turns are done."""
    checkouts = await store.records.find(PROJECT, ProjectFilter(project_ids))
    if not any(one.is_whole or one.is_former for one in checkouts):
        return 0
    done, kept, conversations = 0, set[str](), set[str]()
    while page := await store.timeline.turns_to_link(project_ids, PAGE + len(kept)):
        if not page.keys() - kept:
            break
        for turn_id, conversation_id in page.items():
            if turn_id in kept:
                continue
            if await _link(store, conversation_id, turn_id):
                await store.timeline.set_link_pending([turn_id], False)
                conversations.add(conversation_id)
                done += 1
            else:
                kept.add(turn_id)
    for conversation_id in sorted(conversations):
        await _link_summaries(store, conversation_id)
    return done


async def _link(store: Store, conversation_id: str, turn_id: str) -> bool:
    """Link a turn that waits; return whether it need not wait any longer."""
    from ragforge.memory.code.links import find_project, link_to_project  # slow to import

    with suppress(ConversationNotFound):  # deleted meanwhile
        conversation = await store.records.get(CONVERSATION, conversation_id)
        project = await find_project(store.records, conversation)
        if project is None:
            return False
        is_final = await link_to_project(store, turn_id, conversation, project)
        return is_final or await _is_old(store, turn_id)
    return True


async def _link_summaries(store: Store, conversation_id: str) -> None:
    """Link the summaries that were made while their turns waited."""
    from ragforge.memory.code.links import link_summaries  # slow to import

    found = await store.records.find(SUMMARY, SummaryFilter(conversation_id))
    linked = await store.timeline.links([one.uuid for one in found])
    with suppress(ConversationNotFound):  # deleted meanwhile
        await link_summaries(store, [one for one in found if one.uuid not in linked])


async def _is_old(store: Store, turn_id: str) -> bool:
    message = await store.records.get(MESSAGE, turn_id)
    return message.timestamp < now() - WAITS
