"""Age: what has become of the code that a memory is about. No model is needed to tell.

Code that was only found by a search is left out: there may be hundreds of such places.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ragforge.concurrency import gather_or_cancel
from ragforge.domain.code import FOUND, CodeReference, File, FileMention
from ragforge.domain.hits import MemoryHit
from ragforge.errors import FileNotKnown, ProjectNotFound
from ragforge.ports.store import Store

StaleKind: TypeAlias = Literal["changed since", "gone"]
FEW = 20
"""So many files are asked for one by one; for more it is cheaper to list the project."""


@dataclass(frozen=True, slots=True)
class StaleCode:
    """Code that is no longer what it was when it was mentioned."""

    file: str
    name: str | None  # of the scope; None: the file itself
    fate: StaleKind

    def __str__(self) -> str:
        what = self.file if self.name is None else f"{self.name} ({self.file})"
        return f"{what}: {self.fate}"


async def find_stale(store: Store, project_path: str, hit: MemoryHit) -> list[StaleCode]:
    """Tell what has changed since something that was found was said or summarised."""
    return (await find_all_stale(store, project_path, [hit]))[0]


async def find_all_stale(
    store: Store, project_path: str, hits: Sequence[MemoryHit]
) -> list[list[StaleCode]]:
    """Tell it of several; what turns are about is asked for once, and not again of each."""
    spoken = {
        hit.turn.uuid: [message.uuid for message in (hit.turn.user, *hit.turn.replies)]
        for hit in hits
        if hit.type == "turn"
    }
    ids = [message for messages in spoken.values() for message in messages]
    references = await store.conversations.references_of(ids) if ids else {}

    async def age(hit: MemoryHit) -> list[StaleCode]:
        if hit.type == "summary":
            return await find_stale_in_summary(store, project_path, hit.summary.uuid)
        about = [one for message in spoken[hit.turn.uuid] for one in references.get(message, ())]
        return await _compare(store, project_path, (), about)

    return list(await gather_or_cancel(*map(age, hits)))


async def find_stale_in_turn(
    store: Store, project_path: str, message_ids: Sequence[str]
) -> list[StaleCode]:
    """Tell what has changed since the messages of a turn were said."""
    references = await store.conversations.references_of(message_ids)
    found = [one for message_id in message_ids for one in references.get(message_id, ())]
    return await _compare(store, project_path, (), found)


async def find_stale_in_summary(
    store: Store, project_path: str, summary_id: str
) -> list[StaleCode]:
    """Tell what has changed since a summary was made. Raises SummaryNotFound."""
    files, scopes = await store.summaries.mentions(summary_id)
    return await _compare(store, project_path, files, scopes)


async def _compare(
    store: Store,
    project_path: str,
    files: Iterable[FileMention],
    references: Iterable[CodeReference],
) -> list[StaleCode]:
    files = list(files)
    references = [one for one in references if one.how != FOUND]
    if not files and not references:
        return []
    try:
        project = await store.code.project(project_path)
    except ProjectNotFound:
        return []  # forgotten as a whole: nothing is known of what became of it
    hashes = await _read_hashes(store, project.uuid, [file.path for file in files])
    scopes = await store.code.scopes([reference.scope_id for reference in references])
    hashes |= {scope.uuid: scope.hash for scope in scopes.values()}
    now: list[tuple[str, str | None, StaleKind | None]] = [
        (one.path, None, _compare_hashes(one.hash, hashes.get(one.path))) for one in files
    ]
    now += [
        (r.file, r.qualified_name, _compare_hashes(r.hash, hashes.get(r.scope_id)))
        for r in references
    ]
    return list(dict.fromkeys(StaleCode(file, name, fate) for file, name, fate in now if fate))


async def _read_hashes(store: Store, project_id: str, paths: Sequence[str]) -> dict[str, str]:
    """Return what files hold now, by path; those that are gone are left out."""
    if len(paths) > FEW:
        return {file.path: file.hash for file in await store.code.files(project_id)}
    found = await gather_or_cancel(*(_read_file(store, project_id, path) for path in paths))
    return {file.path: file.hash for file in found if file is not None}


async def _read_file(store: Store, project_id: str, path: str) -> File | None:
    try:
        return await store.code.file(project_id, path)
    except FileNotKnown:
        return None


def _compare_hashes(then: str, now: str | None) -> StaleKind | None:
    if now is None:
        return "gone"
    return None if now == then else "changed since"
