"""Embedding state: whether all scopes of a project have vectors, without looking at each.

A project's state names the model that has embedded all of it. Before an ingestion changes
anything it replaces the state by one of its own. Whoever embeds the result sets the model's name
only if no other ingestion has changed the state meanwhile.
"""

from __future__ import annotations

from dataclasses import replace

from ragforge.brain.ingestion import locks
from ragforge.domain.code import Project
from ragforge.domain.text import new_id
from ragforge.domain.work import Holder
from ragforge.ports.code import CodeStore
from ragforge.ports.work import LockStore


def format_embedded_state(model: str) -> str:
    """Return the state of a project that a model has embedded completely."""
    return f"embedded by {model}"


async def unsettle(code: CodeStore, project: Project) -> Project:
    """Record that scopes are about to change; the caller holds the ingestion lock."""
    changed = replace(project, state=f"changed {new_id()}")
    await code.save_project(changed)
    return changed


async def settle(
    code: CodeStore, lock_store: LockStore, holder: Holder, found: Project, model: str
) -> None:
    """Record that a model has embedded a project, unless its state has changed since."""
    name = locks.name_ingestion_lock(found.uuid)
    holder = replace(holder, token=new_id())
    if not await lock_store.acquire(name, holder, locks.LEASE):
        return  # an ingestion may be changing it now
    try:
        if await code.project(found.uuid) == found:
            await code.save_project(replace(found, state=format_embedded_state(model)))
    finally:
        await lock_store.release(name, holder)
