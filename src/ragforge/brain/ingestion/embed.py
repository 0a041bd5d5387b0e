"""Embed: give scopes their vectors, and new ones only when their text has changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from ragforge.brain.ingestion import progress
from ragforge.domain.code import FORMER, MODULE, WHOLE, Project, ScopeFilter, ScopeName
from ragforge.domain.schema import PROJECT, SCOPE, SCOPE_NAME
from ragforge.domain.text import new_id
from ragforge.domain.work import Holder
from ragforge.errors import ProjectNotFound, ScopeNotFound
from ragforge.ports.models import Embedder
from ragforge.ports.store import Records, Store
from ragforge.search.scope_words import format_scopes

BATCH = 512
PAGE = 16 * BATCH
"""How many vectors are copied together."""


async def embed_scopes(
    store: Store,
    holder: Holder,
    embedder: Embedder,
    project_id: str,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    files: Sequence[str] | None = None,
    others: Sequence[str] = (),
) -> int:
    """Embed the scopes that have no vector of this model for their text; return how many.

    With `files`, only scopes in these files. What `others`, checkouts of the same project, have
    embedded already is copied: a model may be slow, or cost money. It can be interrupted at any
    point; what was embedded stays. Raises ModelError.
    """
    async with progress.hold_lock(store.locks, progress.name_embedding_lock(project_id), holder):
        where = ScopeFilter(project_id, files)
        missing = await store.index.pending(SCOPE, embedder.name, where=where)
        done, copied = 0, 0
        for start in range(0, len(missing), PAGE):
            page = missing[start : start + PAGE]
            if others:
                known = await store.code.copy_vectors(others, page, embedder.name)
                page = [scope_id for scope_id in page if scope_id not in known]
                copied += len(known)
            for begin in range(0, len(page), BATCH):
                some = page[begin : begin + BATCH]
                done += await _embed(store, embedder, project_id, some)
                on_progress(copied + done, len(missing))
        return done


async def embed_files(
    store: Store, embedder: Embedder, project_id: str, files: Sequence[str]
) -> None:
    """Embed the scopes of some files at once, even while another process embeds others.

    Raises ModelError.
    """
    where = ScopeFilter(project_id, files)
    missing = await store.index.pending(SCOPE, embedder.name, where=where)
    for start in range(0, len(missing), BATCH):
        await _embed(store, embedder, project_id, missing[start : start + BATCH])


async def _embed(store: Store, embedder: Embedder, project_id: str, ids: Sequence[str]) -> int:
    """Embed scopes; return how many have a vector now. Those that are gone are left out."""
    scopes = (await store.records.get_many(SCOPE, ids)).values()
    modules = [scope.file for scope in scopes if scope.type == MODULE]
    names: dict[str, list[ScopeName]] = defaultdict(list)
    if modules:
        for name in await store.records.find(SCOPE_NAME, ScopeFilter(project_id, modules)):
            names[name.file].append(name)
    vectors = await embedder.embed(format_scopes(scopes, names, embedder.weights.names))
    hashes = {scope.uuid: scope.hash for scope in scopes}
    made = {
        uuid: vector for uuid, vector in zip(hashes, vectors, strict=True) if vector is not None
    }
    while made:
        try:
            await store.index.embed(SCOPE, made, {uuid: hashes[uuid] for uuid in made})
        except ScopeNotFound:  # another ingestion replaced a scope meanwhile
            known = await store.records.get_many(SCOPE_NAME, list(made))
            made = {uuid: vector for uuid, vector in made.items() if uuid in known}
        else:
            break
    return len(made)


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
