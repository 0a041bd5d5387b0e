"""Code: one-line queries of what a store knows about it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from ragforge.domain.code import (
    CodeFilter,
    Directory,
    File,
    FileFilter,
    Relation,
    RelationFilter,
    RelationKind,
    Scope,
    ScopeFilter,
    ScopeMatch,
    ScopeName,
    group_by_name,
)
from ragforge.domain.queries import Query
from ragforge.domain.schema import FILE, SCOPE, SCOPE_NAME
from ragforge.domain.vectors import Vector
from ragforge.errors import FileNotKnown
from ragforge.ports.store import Store
from ragforge.search.words.tokenise import WORDS


async def read_file(store: Store, project_id: str, path: str) -> File:
    """Return a file or web page. Raises FileNotKnown."""
    for file in await store.records.find(FILE, FileFilter(project_id, [path], pages=None)):
        return file
    raise FileNotKnown(path)


async def list_files(store: Store, project_id: str, under: str | None = None) -> list[File]:
    return await store.records.find(FILE, FileFilter(project_id, under=under))


async def list_pages(store: Store, project_id: str) -> list[File]:
    return await store.records.find(FILE, FileFilter(project_id, pages=True))


async def list_directories(store: Store, project_id: str) -> list[Directory]:
    """Return the directories that hold files, by path; as users find them with a query."""
    given = {"project": project_id}
    if (await store.health()).engine == "neo4j":
        query = """MATCH (d:Directory {project_id: $project})
                   RETURN d.path, d.name, d.uuid ORDER BY d.path"""
    else:
        query = """SELECT path, name, uuid FROM Directory
                   WHERE project_id = $project ORDER BY path"""
    found = await store.query(Query(query, given, max_rows=10_000))
    return [Directory(*map(str, row)) for row in found.rows]


async def list_scopes(store: Store, project_id: str, *paths: str) -> list[Scope]:
    return await store.records.find(SCOPE, ScopeFilter(project_id, paths))


async def find_named(
    store: Store, project_id: str, names: Collection[str]
) -> dict[str, list[ScopeName]]:
    found = await store.records.find(SCOPE_NAME, ScopeFilter(project_id, names=names))
    return group_by_name(found, names)


async def relations_of(
    store: Store,
    node_id: str,
    direction: Literal["in", "out"],
    kinds: Sequence[RelationKind] | None = None,
) -> list[Relation]:
    """Return the relations that leave a node, or those that reach it."""
    found = await store.code.relations(RelationFilter([node_id], kinds=kinds))
    assert all(node_id in (one.source, one.target) for one in found)
    return [one for one in found if (one.source if direction == "out" else one.target) == node_id]


async def find_by_words(
    store: Store, query: str, where: CodeFilter, limit: int
) -> Sequence[ScopeMatch]:
    return (await store.code.search(query, None, where, limit)).by_words


async def find_nearest(
    store: Store, vector: Vector, where: CodeFilter, limit: int
) -> Sequence[ScopeMatch]:
    return (await store.code.search("", vector, where, limit)).by_vector


async def embed_scopes(store: Store, vectors: Mapping[str, Vector], hash: str = "h") -> None:
    """Set the vectors of scopes, made of texts with this hash."""
    await store.index.embed(SCOPE, vectors, dict.fromkeys(vectors, hash))


async def count_missing(store: Store, project_id: str, model: str) -> tuple[int, int]:
    """Return how many scopes have no vector of a model, of all."""
    return await store.index.count_pending(SCOPE, model, ScopeFilter(project_id))


async def list_missing(store: Store, project_id: str, model: str) -> list[str]:
    """Return the scopes without a vector of a model."""
    return await store.index.pending(SCOPE, model, where=ScopeFilter(project_id))


def as_asked(*words: str) -> dict[str, list[str]]:
    """Return words as `count_holding` takes them, each with the words of the index."""
    return {word: WORDS.query(word) for word in words}
