"""Ingest: bring the store up to date with the files of a project."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from ragforge.brain.files.limits import FileLimits
from ragforge.brain.ids import make_id
from ragforge.brain.ingestion import locks
from ragforge.brain.ingestion.report import IngestionReport, IngestionStep, OnStep
from ragforge.domain.code import Project
from ragforge.domain.work import Holder, Lock
from ragforge.errors import ProjectNotFound
from ragforge.ports.code import CodeStore
from ragforge.ports.work import LockStore


def make_project_id(root: Path) -> str:
    """Return the id of the project at a path."""
    return make_id("project", str(root))


@dataclass(frozen=True, slots=True)
class Ingester:
    """Ingests projects into one store."""

    code: CodeStore
    locks: LockStore
    holder: Holder
    limits: FileLimits = field(default_factory=FileLimits)

    async def ingest(self, root: Path, on_step: OnStep = lambda _: None) -> IngestionReport:
        """Read new and changed files, forget those that are gone, and relate affected files.

        If it is interrupted at any point, the next run completes the work. While another
        process ingests the same project, it waits, then compares again.
        Raises OSError if the root cannot be listed.
        """
        from ragforge.brain.files.compare import compare
        from ragforge.brain.files.walk import walk

        root = root.resolve()
        uuid = make_project_id(root)

        def report_waiting(_: Lock) -> None:
            on_step(IngestionStep("waiting"))

        async with locks.hold_lock(
            self.locks, locks.name_ingestion_lock(uuid), self.holder, report_waiting
        ):
            walked = await asyncio.to_thread(walk, root, self.limits)
            project = await self._ensure(root, uuid)
            known = {file.path: file for file in await self.code.files(uuid)}
            difference = compare(walked.files, known)
            if not difference:
                return IngestionReport(
                    uuid,
                    files=len(known),
                    read=0,
                    removed=0,
                    scopes=0,
                    related=0,
                    skipped=walked.skipped,
                    before=project,
                    after=project,
                )
            # Loaded late: parsing and relating take long to import, and mostly nothing has changed.
            from ragforge.brain.ingestion.ingestion_run import IngestionRun

            return await IngestionRun(
                self.code, root, project, walked, known, difference, on_step
            ).execute()

    async def forget(self, root: Path, under: str | None = None) -> int:
        """Forget the project at a path, or a directory or file in it; return how many files.

        Raises ProjectNotFound.
        """
        project = await self.code.project(str(root.resolve()))
        async with locks.hold_lock(
            self.locks, locks.name_ingestion_lock(project.uuid), self.holder
        ):
            files = [file.path for file in await self.code.files(project.uuid, under)]
            if under is None:
                await self.code.delete_project(project.uuid)
            else:
                await self.code.remove_files(project.uuid, files)
        return len(files)

    async def _ensure(self, root: Path, uuid: str) -> Project:
        try:
            return await self.code.project(str(root))
        except ProjectNotFound:
            project = Project(str(root), root.name or str(root), uuid)
            await self.code.save_project(project)
            return project
