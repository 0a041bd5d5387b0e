"""Pending links: link turns to code that was not ingested when the turns were stored.

A turn waits while its project is unknown, or while a file that it edited is not ingested. Every
ingestion checks whether turns wait, and queues one durable job that links them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from ragforge.domain.instants import now
from ragforge.domain.work import NewJob
from ragforge.ports.store import Store

LINK_JOB = "link_turns"
PAGE = 200
WAITS = timedelta(days=1)
"""How long a turn waits for its edits to be ingested. Later the code may have changed again."""


async def link_or_wait(store: Store, conversation_id: str, turn_id: str) -> None:
    """Link a turn to code, and mark it if that must be repeated when more is known.

    Raises ConversationNotFound.
    """
    from ragforge.memory.code.links import find_project, link_to_project  # slow to import

    conversation = await store.conversations.get(conversation_id)
    project = await find_project(store.code, conversation)
    is_done = project is not None and await link_to_project(store, turn_id, conversation, project)
    await store.conversations.set_link_pending([turn_id], not is_done)
    ids = [conversation.project_id]
    if project is None and await _is_known(store, ids):
        await enqueue_links(store, ids)  # ingested meanwhile, before this turn waited


async def enqueue_links(store: Store, project_ids: Sequence[str]) -> bool:
    """Queue the linking of the waiting turns of a project; return whether there are any."""
    waiting = await store.conversations.turns_to_link(project_ids, 1)
    if waiting:
        whose = f"{store.viewer}:" if store.viewer else ""  # everybody links their own
        job = NewJob(f"link:{whose}{project_ids[0]}", LINK_JOB, list(project_ids))
        await store.jobs.enqueue([job], again=True)
    return bool(waiting)


async def link_waiting(store: Store, project_ids: Sequence[str]) -> int:
    """Link the waiting turns of a project; return how many are done.

    A turn whose edits are not ingested yet keeps waiting, unless it is old.
    """
    from ragforge.memory.code.links import link_turn  # slow to import

    if not await _is_known(store, project_ids):
        return 0
    done, kept = 0, set[str]()
    while page := await store.conversations.turns_to_link(project_ids, PAGE + len(kept)):
        new = [turn_id for turn_id in page if turn_id not in kept]
        if not new:
            break
        for turn_id in new:
            if await link_turn(store, turn_id) or await _is_old(store, turn_id):
                await store.conversations.set_link_pending([turn_id], False)
                done += 1
            else:
                kept.add(turn_id)
    return done


async def _is_known(store: Store, project_ids: Sequence[str]) -> bool:
    return bool(await store.code.checkouts(project_ids))


async def _is_old(store: Store, turn_id: str) -> bool:
    message = await store.conversations.message(turn_id)
    return message.timestamp < now() - WAITS
