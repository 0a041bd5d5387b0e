"""Later: links to code that was not known when a turn was stored, made when it is.

A turn waits while its project is unknown, or while a file that it edited is not ingested. Every
ingestion looks whether turns wait, and queues one durable job that links them.
"""

from __future__ import annotations

from datetime import timedelta

from ragforge.domain.instants import now
from ragforge.domain.work import NewJob
from ragforge.errors import ProjectNotFound
from ragforge.memory.code.links import link_turn
from ragforge.ports.store import Store

LINK_JOB = "link_turns"
PAGE = 200
WAITS = timedelta(days=1)
"""So long a turn waits for its edits to be ingested. What it edited may have changed since."""


async def link_or_wait(store: Store, conversation_id: str, turn_id: str) -> None:
    """Link a turn to code, and note if that is to be done again when more is known.

    Raises ConversationNotFound.
    """
    project = (await store.conversations.get(conversation_id)).project_path
    was_known = await _is_known(store, project)
    is_done = await link_turn(store, turn_id)
    await store.conversations.set_link_pending([turn_id], not is_done)
    if not was_known and await _is_known(store, project):
        await enqueue_links(store, project)  # it was ingested meanwhile, and nobody waited then


async def enqueue_links(store: Store, project_path: str) -> bool:
    """Queue the linking of the turns of a project that wait for it; tell whether any do."""
    waiting = await store.conversations.turns_to_link(project_path, 1)
    if waiting:
        job = NewJob(f"link:{project_path}", LINK_JOB, project_path)
        await store.jobs.enqueue([job], again=True)
    return bool(waiting)


async def link_waiting(store: Store, project_path: str) -> int:
    """Link the turns of a project that wait for it; return how many no longer do.

    One whose edits are not ingested yet waits on, unless it is old.
    """
    if not await _is_known(store, project_path):
        return 0
    done, kept = 0, set[str]()
    while page := await store.conversations.turns_to_link(project_path, PAGE + len(kept)):
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


async def _is_known(store: Store, project_path: str) -> bool:
    try:
        await store.code.project(project_path)
    except ProjectNotFound:
        return False
    return True


async def _is_old(store: Store, turn_id: str) -> bool:
    message = await store.conversations.message(turn_id)
    return message.timestamp < now() - WAITS
