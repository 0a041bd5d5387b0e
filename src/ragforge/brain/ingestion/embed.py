"""Embed: give scopes their vectors, and new ones only when their text has changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from ragforge.brain.ingestion import locks
from ragforge.domain.code import MODULE, SECTION, Scope, ScopeName
from ragforge.domain.work import Holder
from ragforge.errors import ScopeNotFound
from ragforge.ports.code import CodeStore, ScopeVector
from ragforge.ports.embedder import Embedder
from ragforge.ports.work import LockStore

BATCH = 512
PAGE = 16 * BATCH
"""So many are read together: to find the next ones, an engine may go through all of a project."""
SOURCE_CHARS = 1_500
"""The rest of a long function adds little about its purpose."""


async def embed_scopes(
    code: CodeStore,
    lock_store: LockStore,
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
    async with locks.hold_lock(lock_store, locks.name_embedding_lock(project_id), holder):
        total = 0 if files is not None else (await code.count_scopes(project_id, embedder.name))[0]
        done, copied, after = 0, 0, ""
        while page := await code.scopes_to_embed(project_id, embedder.name, PAGE, after, files):
            scopes, after = page, page[-1].uuid
            if others:
                ids = [scope.uuid for scope in scopes]
                known = await code.copy_vectors(others, ids, embedder.name)
                scopes = [scope for scope in scopes if scope.uuid not in known]
                copied += len(known)
            for start in range(0, len(scopes), BATCH):
                some = scopes[start : start + BATCH]
                done += await _embed(code, embedder, project_id, some)
                on_progress(copied + done, max(total, copied + done))
            if len(page) < PAGE:  # there are no more
                break
        return done


async def embed_files(
    code: CodeStore, embedder: Embedder, project_id: str, files: Sequence[str]
) -> None:
    """Embed the scopes of some files at once, whoever embeds others meanwhile.

    Raises ModelError.
    """
    after = ""
    while scopes := await code.scopes_to_embed(project_id, embedder.name, BATCH, after, files):
        after = scopes[-1].uuid
        await _embed(code, embedder, project_id, scopes)


async def _embed(
    code: CodeStore, embedder: Embedder, project_id: str, scopes: Sequence[Scope]
) -> int:
    modules = [scope.file for scope in scopes if scope.type == MODULE]
    names: dict[str, list[ScopeName]] = defaultdict(list)
    if modules:
        for name in await code.names_in(project_id, modules):
            names[name.file].append(name)
    again = embedder.weights.names
    texts = [
        format_module(scope, names[scope.file])
        if scope.type == MODULE
        else format_scope(scope, again)
        for scope in scopes
    ]
    vectors = await embedder.embed(texts)
    made = [
        ScopeVector(scope.uuid, vector, scope.hash)
        for scope, vector in zip(scopes, vectors, strict=True)
        if vector is not None
    ]
    while made:
        try:
            await code.embed(made)
        except ScopeNotFound:  # another ingestion replaced a scope meanwhile
            known = await code.scope_names([vector.scope_id for vector in made])
            made = [vector for vector in made if vector.scope_id in known]
        else:
            break
    return len(made)


def format_scope(scope: Scope, again: int = 0) -> str:
    """Return the text to embed for a scope: its path, name, signature and source.

    Of code, the names of the file and the scope are repeated `again` times: people ask for those.
    """
    lines = [
        f"{scope.file} {scope.qualified_name}",
        scope.signature,
        scope.docstring,
        scope.source[:SOURCE_CHARS],
    ]
    if scope.type != SECTION:
        file = scope.file.rpartition("/")[2].partition(".")[0]
        lines += [f"{file} {scope.name}"] * again
    return "\n".join(lines)


def format_module(module: Scope, names: Sequence[ScopeName]) -> str:
    """Return the text to embed for a file or module: all names in it, each with the path.

    A question about a part of the system is nearer to this than to any one function.
    """
    inner = [
        f"{name.file} {name.qualified_name} {name.signature}"
        for name in names
        if module.start_line <= name.start_line and name.end_line <= module.end_line
    ]
    return "\n".join([f"{module.file} {module.docstring}", *inner])
