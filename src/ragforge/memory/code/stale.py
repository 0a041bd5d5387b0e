"""Stale code: which code that a memory mentions has changed or is gone.

Code that was only found by a search is ignored: there may be hundreds of such places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from ragforge.domain.code import FOUND, CodeLinks, is_file_target
from ragforge.domain.hits import MemoryHit
from ragforge.domain.projects import ProjectPlace
from ragforge.memory.code.checkouts import find_checkout, find_scopes
from ragforge.ports.store import Store
from ragforge.records import dataclass

StaleKind: TypeAlias = Literal["changed since", "gone"]


@dataclass(frozen=True, slots=True)
class StaleCode:
    """Code that has changed, or is gone, since it was mentioned."""

    file: str
    name: str | None  # of the scope; None: the file itself
    fate: StaleKind

    def __str__(self) -> str:
        what = self.file if self.name is None else f"{self.name} ({self.file})"
        return f"{what}: {self.fate}"


async def find_stale(store: Store, place: ProjectPlace, hit: MemoryHit) -> list[StaleCode]:
    """Return the code of a hit that has changed since."""
    return (await find_all_stale(store, place, [hit]))[0]


async def find_all_stale(
    store: Store, place: ProjectPlace, hits: Sequence[MemoryHit]
) -> list[list[StaleCode]]:
    """Return the changed code of several hits; what all of them mention is read at once."""
    return await find_stale_of(store, place, [_list_owners(hit) for hit in hits])


def _list_owners(hit: MemoryHit) -> list[str]:
    """Return the ids of what may be linked to code: a summary, or the messages of a turn."""
    if hit.type == "summary":
        return [hit.summary.uuid]
    return [message.uuid for message in (hit.turn.user, *hit.turn.replies)]


async def find_stale_of(
    store: Store, place: ProjectPlace, owners: Sequence[Sequence[str]]
) -> list[list[StaleCode]]:
    """Return the changed code of several groups of messages and summaries, given by their ids."""
    ids = [owner for group in owners for owner in group]
    linked = await store.timeline.links(ids) if ids else {}
    if not linked:
        return [[] for _ in owners]  # memories that mention no code: the usual case
    groups = [[linked[owner] for owner in group if owner in linked] for group in owners]
    mentioned = [
        CodeLinks(
            [reference for links in group for reference in links.references],
            [file for links in group for file in links.files],
        )
        for group in groups
    ]
    return await _compare_all(store, place, mentioned)


async def _compare_all(
    store: Store, place: ProjectPlace, mentioned: Sequence[CodeLinks]
) -> list[list[StaleCode]]:
    """Return the changed code of each; what the code is now is read once for all."""
    paths = {file.path for one in mentioned for file in one.files}
    touched = [r for one in mentioned for r in one.references if r.how != FOUND]
    paths |= {r.file for r in touched if is_file_target(r.scope_id, r.file)}
    if not paths and not touched:
        return [[] for _ in mentioned]
    files = sorted(paths.union(r.file for r in touched))
    checkout = place.checkout_id
    marks = await store.code.file_marks(checkout, files)
    if not marks:  # all of it is gone, or it is known from another checkout
        project = await find_checkout(store.records, place)
        if project is None:
            return [[] for _ in mentioned]  # the whole project was removed, so nothing is known
        checkout = project.uuid
        marks = await store.code.file_marks(checkout, files)
    hashes = {path: mark.hash for path, mark in marks.items()}
    wanted = dict.fromkeys((r.scope_id, r.file, r.qualified_name) for r in touched)
    scopes = await find_scopes(store.records, checkout, list(wanted)) if wanted else {}
    hashes |= {known: scope.hash for known, scope in scopes.items()}
    return [_list_stale(one, hashes) for one in mentioned]


def _list_stale(mentioned: CodeLinks, hashes: Mapping[str, str]) -> list[StaleCode]:
    now: list[tuple[str, str | None, StaleKind | None]] = [
        (one.path, None, _compare_hashes(one.hash, hashes.get(one.path))) for one in mentioned.files
    ]
    touched = [r for r in mentioned.references if r.how != FOUND]
    now += [
        (r.file, None, _compare_hashes(r.hash, hashes.get(r.file)))
        if is_file_target(r.scope_id, r.file)
        else (r.file, r.qualified_name, _compare_hashes(r.hash, hashes.get(r.scope_id)))
        for r in touched
    ]
    return list(dict.fromkeys(StaleCode(file, name, fate) for file, name, fate in now if fate))


def _compare_hashes(then: str, now: str | None) -> StaleKind | None:
    if now is None:
        return "gone"
    return None if now == then else "changed since"
