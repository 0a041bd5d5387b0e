"""Ingest: bring the store up to date with the files of a project."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ragforge.brain.files.compare import PARSED, SKIPPED, is_skipped
from ragforge.brain.files.exclusions import FileLimits, SkipReason
from ragforge.brain.files.walk import SkippedFile, WantedFiles
from ragforge.brain.ingestion import progress
from ragforge.brain.ingestion.progress import FoundChanges, IngestionReport, OnStep
from ragforge.brain.languages.table import detect_language, has_grammar, is_document
from ragforge.domain.code import NEW, File, FileFilter, Project, make_id
from ragforge.domain.kinds import STORED, Redactor
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.schema import FILE, PROJECT
from ragforge.domain.work import Holder
from ragforge.errors import InputError, ProjectNotFound, StoreFull
from ragforge.ports.store import Store
from ragforge.records import dataclass

if TYPE_CHECKING:
    from ragforge.brain.ingestion.exact_index import ExactIndex, ExactIndexFile
    from ragforge.brain.ingestion.ingestion_run import KeptOutlines


MANY_NAMED = 100
"""With more names than this a walk costs less."""


def make_project_id(root: Path) -> str:
    """Return the id of the project at a path."""
    return make_id("project", str(root))


def make_place(root: Path) -> ProjectPlace:
    """Return the place of a project that is known only by its path."""
    return ProjectPlace((str(root),), str(root), checkout_id=make_project_id(root))


@dataclass(frozen=True, slots=True)
class Ingester:
    """Ingests projects into one store."""

    store: Store
    holder: Holder
    limits: FileLimits = field(default_factory=FileLimits)
    folder: Path | None = None  # for files from which a later run or another process continues
    redactor: Redactor = STORED  # of what is written there, or shown before it is stored
    uses_index: Callable[[], bool] = lambda: False
    """Whether an index of an exact indexer that lies in a project is used."""

    def find_wanted(self, project_id: str) -> WantedFiles | None:
        """Return the files that questions about a project want to be read next."""
        return None if self.folder is None else WantedFiles(self.folder / project_id)

    async def ingest(
        self,
        root: Path,
        on_step: OnStep = lambda _: None,
        place: ProjectPlace | None = None,
        paths: Collection[str] | None = None,
        recent: Sequence[str] = (),
        scip: Path | None = None,
    ) -> IngestionReport:
        """Read new and changed files, forget those that are gone, and relate affected files.

        With `paths`, relative to the root, only those files are compared if the project was
        ingested before. A new checkout begins with what another one of its project holds.
        Files that questions want are read first, and of others the `recent` ones.
        If it is interrupted at any point, the next run completes the work.
        While another process ingests the same project, it waits, then compares again.
        Relations of files that the index `scip` of an exact indexer describes come from there.
        Raises OSError if the root cannot be listed, InputError if the index cannot be read.
        """
        root = root.resolve()
        place = place or make_place(root)
        uuid = place.checkout_id

        async with progress.hold_lock(
            self.store.locks, progress.name_ingestion_lock(uuid), self.holder, on_step
        ):
            project = await self.ensure_project(root, place)
            found = None
            if paths is not None and project.is_whole:
                found = await self._look_at(root, uuid, paths)
            found = found or await self._walk(root, project, place, on_step, scip)
            return await self._bring_up_to_date(root, project, found, on_step, recent)

    async def _walk(
        self,
        root: Path,
        project: Project,
        place: ProjectPlace,
        on_step: OnStep,
        scip: Path | None = None,
    ) -> FoundChanges:
        """Compare all files with those in the store."""
        from ragforge.brain.files.compare import compare
        from ragforge.brain.files.walk import walk

        walked = await asyncio.to_thread(walk, root, self.limits)
        copied = 0
        if project.state == NEW and walked.files:
            from ragforge.brain.ingestion.copy_index import IndexCopier  # slow to load

            copier = IndexCopier(self.store, self.holder, on_step)
            copied = await copier.copy(project, place.ids, walked.files)
        known = await self._load_known(FileFilter(project.uuid))
        paths = [file.path for file in walked.files]
        exact = await self._choose_index(root, project.uuid, scip, paths, known)
        difference = compare(walked.files, known)
        return FoundChanges(paths, walked.skipped, known, difference, copied=copied, exact=exact)

    async def _choose_index(
        self,
        root: Path,
        uuid: str,
        scip: Path | None,
        paths: Collection[str],
        known: dict[str, File],
    ) -> ExactIndex | None:
        """Return the index of an exact indexer, and mark the files that it newly concerns."""
        kept = self._find_index(uuid)
        if kept is None:
            if scip is not None:
                raise InputError("An index needs a folder for files of ingestions.")
            return None
        from ragforge.brain.ingestion.exact_index import FILENAME, list_affected

        before = kept.load()
        uses_found = (root / FILENAME).is_file() and self.uses_index()
        if before is None and scip is None and not uses_found:
            return None
        exact = await asyncio.to_thread(kept.choose, root, scip, uses_found, paths)
        marked = [
            path
            for path in sorted(list_affected(before, exact))
            if path in known and not is_skipped(known[path])
        ]
        if marked:
            # First: a run that dies now finds the same again.
            await self.store.code.set_files(uuid, "state", dict.fromkeys(marked, PARSED))
            known.update((path, replace(known[path], state=PARSED)) for path in marked)
        if exact != before:
            kept.save(exact)
        return exact

    def _find_index(self, project_id: str) -> ExactIndexFile | None:
        from ragforge.brain.ingestion.exact_index import ExactIndexFile

        return None if self.folder is None else ExactIndexFile(self.folder / f"{project_id}.scip")

    async def _look_at(self, root: Path, uuid: str, paths: Collection[str]) -> FoundChanges | None:
        """Compare only the named files; None if all have to be walked."""
        from ragforge.brain.files.compare import Difference, compare, look_at

        named = await asyncio.to_thread(look_at, root, paths, self.limits)
        marks = await self.store.code.file_marks(uuid)
        if named is None or not marks or len(paths) > MANY_NAMED:
            return None
        gone = tuple(path for path in named.gone if path in marks)
        wanted = [path for path in (*(file.path for file in named.files), *gone) if path in marks]
        known = await self._load_known(FileFilter(uuid, wanted)) if wanted else {}
        difference = Difference(
            compare(named.files, known).suspects,
            gone,
            tuple(path for path, mark in marks.items() if mark.state == PARSED),
        )
        there = (marks.keys() | {file.path for file in named.files}).difference(gone)
        if len(there) > self.limits.max_files:
            return None
        kept = self._find_index(uuid)
        exact = None if kept is None else kept.load()
        return FoundChanges(there, named.skipped, known, difference, marks, exact=exact)

    async def _load_known(self, where: FileFilter) -> dict[str, File]:
        """Return stored files by path; one whose grammar is new here is to be read again."""
        known = {file.path: file for file in await self.store.records.find(FILE, where)}
        again = [
            path
            for path, file in known.items()
            if _is_code_as_text(file) and has_grammar(file.language)
        ]
        return known | {path: replace(known[path], state=SKIPPED) for path in again}

    async def _bring_up_to_date(
        self,
        root: Path,
        project: Project,
        found: FoundChanges,
        on_step: OnStep,
        recent: Sequence[str],
    ) -> IngestionReport:
        if not found.difference:
            return IngestionReport(
                project.uuid,
                files=len(found.known if found.marks is None else found.marks),
                skipped=(*found.skipped, *list_left_out(found.known.values())),
                exact=found.exact,
                before=project,
                after=project,
            )
        # Loaded late: parsing and relating take long to import, and mostly nothing has changed.
        from ragforge.brain.ingestion.ingestion_run import IngestionRun

        run = IngestionRun(
            self.store,
            root,
            project,
            found,
            on_step,
            recent=recent,
            wanted=self.find_wanted(project.uuid),
            outlines=self._find_outlines(project.uuid),
        )
        try:
            report = await run.execute()
        except StoreFull as error:
            stored = f"Stored before: {len(run.read):,} files. The next ingestion continues there."
            raise StoreFull(f"{error} {stored}") from error
        reported = {file.path for file in report.skipped}
        others = (run.new[path] for path in found.known if path in run.new and path not in reported)
        skipped = (*report.skipped, *list_left_out(others))
        return replace(report, copied=found.copied, skipped=skipped, exact=found.exact)

    def _find_outlines(self, project_id: str) -> KeptOutlines | None:
        from ragforge.brain.ingestion.ingestion_run import KeptOutlines

        if self.folder is None:
            return None
        return KeptOutlines(self.folder / f"{project_id}.outlines", self.redactor)

    async def forget(self, project_id: str, under: str | None = None) -> int:
        """Forget a project, or a directory or file in it; return how many files.

        Raises ProjectNotFound.
        """
        project = await self.store.records.get(PROJECT, project_id)
        async with progress.hold_lock(
            self.store.locks, progress.name_ingestion_lock(project.uuid), self.holder
        ):
            if (outlines := self._find_outlines(project.uuid)) is not None:
                outlines.drop()
            if under is None and (index := self._find_index(project.uuid)) is not None:
                index.save(None)
            where = FileFilter(project.uuid, under=under)
            files = [file.path for file in await self.store.records.find(FILE, where)]
            if under is None:
                await self.store.records.delete(PROJECT, project.uuid)
            else:
                await self.store.code.remove_files(project.uuid, files)
        return len(files)

    async def find_project(self, uuid: str) -> Project | None:
        """Return a checkout of a project, None if it is not stored."""
        try:
            return await self.store.records.get(PROJECT, uuid)
        except ProjectNotFound:
            return None

    async def ensure_project(self, root: Path, place: ProjectPlace) -> Project:
        """Return the project of a place, stored as it is known there now."""
        known = await self.find_project(place.checkout_id) or Project(
            str(root), root.name or str(root), place.checkout_id, project_id="-"
        )
        project = replace(known, host=place.host, project_id=place.id)
        if project != known:
            await self.store.records.put(PROJECT, project)
        return project


def list_left_out(files: Iterable[File]) -> Iterator[SkippedFile]:
    """Yield the files that an earlier run left out, or of which it stored only the text."""
    for file in files:
        if is_skipped(file):
            yield SkippedFile(file.path, cast("SkipReason", file.state.partition(": ")[2]))
        elif _is_code_as_text(file):
            yield SkippedFile(file.path, "no grammar")
        elif file.language == "text" and detect_language(file.path) not in (None, "text"):
            yield SkippedFile(file.path, "outline")


def _is_code_as_text(file: File) -> bool:
    """Tell whether a file was read without the grammar of its language."""
    return file.kind == "document" and not is_document(file.language)
