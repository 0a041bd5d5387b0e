"""Copy index: a new checkout begins with what another checkout of its project holds.

A clone or a worktree has mostly the same files. It starts as if it had been ingested when it was
like the other checkout; the ingestion that follows compares contents and treats what differs as
changed since. So nothing is parsed or related twice, and relations are those of a fresh ingestion.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from ragforge.brain.files.compare import PARSED, RELATED, is_skipped
from ragforge.brain.files.walk import FoundFile
from ragforge.brain.ingestion import progress
from ragforge.brain.ingestion.progress import IngestionStep, OnStep
from ragforge.brain.parse.outline import make_scope_id
from ragforge.brain.parse.read_source import make_file_id
from ragforge.domain.code import (
    NEW,
    File,
    FileFilter,
    ParsedFile,
    Project,
    ProjectFilter,
    Relation,
    RelationFilter,
    ScopeFilter,
    ScopeName,
)
from ragforge.domain.schema import FILE, PROJECT, SCOPE, SCOPE_NAME
from ragforge.domain.work import Holder
from ragforge.ports.store import Store
from ragforge.records import dataclass

TOGETHER = 100
"""How many files are copied in one transaction."""
RELATED_TOGETHER = 1_000
MAX_CHECKOUTS = 5
"""How many other checkouts are considered: a team may have hundreds."""

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class IndexCopier:
    """Copies files with their scopes and relations from one checkout to another."""

    store: Store
    holder: Holder
    on_step: OnStep

    async def copy(self, project: Project, ids: Sequence[str], found: Sequence[FoundFile]) -> int:
        """Copy all files of a similar checkout into a new one; return how many.

        `ids` are those of the project that both belong to, `found` the files of the new one. If
        it is interrupted, the project is still new, and the next ingestion copies again.
        """
        source = await self._choose_source(project, ids, found)
        if source is None:
            return 0
        name = progress.name_ingestion_lock(source.uuid)
        # It must not change meanwhile. It is not new, so that it never waits for this one.
        async with progress.hold_lock(self.store.locks, name, self.holder, self.on_step):
            files = await self.store.records.find(FILE, FileFilter(source.uuid))
            names = [
                name
                for some in _split([file.path for file in files], RELATED_TOGETHER)
                for name in await self.store.records.find(
                    SCOPE_NAME, ScopeFilter(source.uuid, some)
                )
            ]
            renamed = make_new_ids(source.uuid, project.uuid, files, names)
            if renamed is None:
                return 0
            await self._copy_files(project.uuid, files, names, renamed)
            await self._copy_relations(source.uuid, project.uuid, files, renamed)
            return len(files)

    async def _choose_source(
        self, project: Project, ids: Sequence[str], found: Sequence[FoundFile]
    ) -> Project | None:
        """Return the checkout with the most files of the same size; at least half must be."""
        others = [
            one
            for one in await self.store.records.find(PROJECT, ProjectFilter(ids))
            if one.uuid != project.uuid and one.state != NEW
        ]
        best, highest = None, 0
        for other in others[:MAX_CHECKOUTS]:
            marks = await self.store.code.file_marks(other.uuid)
            same = sum(
                (mark := marks.get(file.path)) is not None and mark.size == file.size
                for file in found
            )
            if same > highest and 2 * same >= max(len(found), len(marks)):
                best, highest = other, same
        return best

    async def _copy_files(
        self,
        target: str,
        files: Sequence[File],
        names: Iterable[ScopeName],
        renamed: Mapping[str, str],
    ) -> None:
        inside: dict[str, list[str]] = defaultdict(list)
        for name in names:
            inside[name.file].append(name.uuid)
        done = 0
        for some in _split(files, TOGETHER):
            scopes = await self.store.records.get_many(
                SCOPE, [one for file in some for one in inside[file.path]]
            )
            copies = [
                ParsedFile(
                    replace(
                        file,
                        uuid=renamed[file.uuid],
                        mtime=None,  # so that its content is compared
                        state=file.state if is_skipped(file) else PARSED,
                    ),
                    tuple(replace(scopes[one], uuid=renamed[one]) for one in inside[file.path]),
                )
                for file in some
            ]
            await self.store.code.replace_files(target, copies)
            done += len(some)
            self.on_step(IngestionStep("copying", done, len(files)))

    async def _copy_relations(
        self, source: str, target: str, files: Sequence[File], renamed: Mapping[str, str]
    ) -> None:
        paths = [file.path for file in files if file.state == RELATED]
        for some in _split(paths, RELATED_TOGETHER):
            copies = [
                Relation(one.kind, renamed[one.source], renamed.get(one.target, one.target))
                for one in await self.store.code.relations(
                    RelationFilter(project_id=source, files=some)
                )
            ]
            await self.store.code.relate_files(target, some, copies, RELATED)


def make_new_ids(
    source: str, target: str, files: Iterable[File], names: Iterable[ScopeName]
) -> dict[str, str] | None:
    """Return the ids that files and scopes of one checkout have in another, by their old ones.

    None if one of them was not made as today: what is copied must have the ids that the next
    ingestion gives it.
    """
    renamed = {file.uuid: make_file_id(target, file.path) for file in files}
    same: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for name in names:
        same[name.file, name.qualified_name, name.type].append(name.uuid)
    for key, uuids in same.items():
        numbers = range(len(uuids))
        made = {make_scope_id(source, *key, n): make_scope_id(target, *key, n) for n in numbers}
        if made.keys() != set(uuids):
            return None
        renamed |= made
    return renamed


def _split(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
