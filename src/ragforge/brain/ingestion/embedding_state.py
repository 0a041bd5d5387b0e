"""Embedding state: whether all scopes of a project have vectors, without looking at each.

A project's state names the model that has embedded all of it. Before an ingestion changes
anything it replaces the state by one of its own. Whoever embeds the result sets the model's name
only if no other ingestion has changed the state meanwhile. The state also says whether all files
were ingested once.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from ragforge.domain.code import FORMER, WHOLE, Project
from ragforge.domain.schema import PROJECT
from ragforge.domain.text import new_id
from ragforge.errors import ProjectNotFound
from ragforge.ports.records import Records
from ragforge.ports.store import Store


def format_embedded_state(model: str) -> str:
    """Return the state of a project that a model has embedded completely."""
    return f"{WHOLE}, embedded by {model}"


def make_unsettled(project: Project) -> Project:
    """Return a project in a state that never was, and that no model has embedded."""
    kept = WHOLE if project.is_whole else FORMER[0] if project.is_former else "begun"
    return replace(project, state=f"{kept} {new_id()}")


async def unsettle(records: Records, project: Project) -> Project:
    """Record that scopes are about to change; the caller holds the ingestion lock."""
    changed = make_unsettled(project)
    await records.put(PROJECT, changed)
    return changed


async def finish(store: Store, project: Project) -> Project:
    """Record that an ingestion of all files has finished, and return what it has left.

    If a page was stored meanwhile, which may have no vector yet, the result cannot be settled.
    """
    found = project
    while not found.is_whole:
        whole = replace(found, state=f"{WHOLE} {new_id()}")
        changed = await change_state(store.records, found, whole.state)
        if changed.state == whole.state:
            return whole if found.state == project.state else project
        found = changed
    return project


async def settle(records: Records, found: Project, model: str) -> None:
    """Record that a model has embedded a project, unless its state has changed since.

    Before an ingestion changes a scope, it changes the state to one that never was.
    """
    with suppress(ProjectNotFound):  # forgotten since
        await change_state(records, found, format_embedded_state(model))


async def change_state(records: Records, found: Project, state: str) -> Project:
    """Give a project another state unless its own has changed since; return it as it is now.

    Raises ProjectNotFound.
    """
    return await records.update(
        PROJECT,
        found.uuid,
        lambda now: replace(now, state=state) if now.state == found.state else now,
    )
