"""Settled: knowing, without looking at each of them, that all scopes have their vectors.

A project's state names the model that has embedded all of it. An ingestion takes that away before
it changes anything and puts a name of its own there instead; whoever has embedded what an
ingestion left says so only if no other one has come between.
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
    """Return the state of a project all of whose scopes a model has embedded."""
    return f"embedded by {model}"


async def unsettle(code: CodeStore, project: Project) -> Project:
    """Note that scopes are about to change; the ingestion lock is held."""
    changed = replace(project, state=f"changed {new_id()}")
    await code.save_project(changed)
    return changed


async def settle(
    code: CodeStore, lock_store: LockStore, holder: Holder, found: Project, model: str
) -> None:
    """Note that a model has embedded a project as it was found, if it still is as it was."""
    name = locks.name_ingestion_lock(found.uuid)
    holder = replace(holder, token=new_id())
    if not await lock_store.acquire(name, holder, locks.LEASE):
        return  # whoever ingests now may be changing it
    try:
        if await code.project(found.path) == found:
            await code.save_project(replace(found, state=format_embedded_state(model)))
    finally:
        await lock_store.release(name, holder)
