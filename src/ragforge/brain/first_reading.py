"""First reading: what is left of it, and which files it begins with."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragforge.brain.files.walk import FoundFile
    from ragforge.brain.ingestion.ingest import Ingester
    from ragforge.brain.search.unread import Unread
    from ragforge.ports.words import CountWords

SAME_WALK_SECONDS = 30.0
"""Questions that follow each other within this time share one walk through the files."""


@dataclass(slots=True)
class FirstReading:
    """The first reading of a project, which questions do not wait for."""

    root: Path
    project_id: str
    ingester: Ingester
    count_words: CountWords | None = None  # in unread files; None: only their paths count
    list_recent: Callable[[], Awaitable[Sequence[str]]] | None = None  # the newest first
    _files: tuple[FoundFile, ...] = ()
    _walked_at: float = -inf

    async def is_unfinished(self) -> bool:
        """Tell whether the reading began, and some files were never read."""
        project = await self.ingester.find_project(self.project_id)
        return project is not None and not project.is_whole and not project.is_former

    async def find_unread(self) -> Unread | None:
        """Return what is left to read, None if the reading is finished.

        Also None before it begins: until then no file may be read.
        """
        if not await self.is_unfinished():
            return None
        from ragforge.brain.search.unread import Unread  # it loads the parsers

        files, read = await asyncio.gather(
            asyncio.to_thread(self._list_files),
            self.ingester.store.code.file_paths(self.project_id),
        )
        return Unread(
            self.root,
            self.project_id,
            files,
            frozenset(read),
            self.count_words,
            self.ingester.redactor,
            self.ingester.find_wanted(self.project_id),
        )

    async def list_recent_files(self) -> Sequence[str]:
        """Return the files that changed lately, the newest first; none after the first reading."""
        if self.list_recent is None or not await self.is_unfinished():
            return ()
        return await self.list_recent()

    def _list_files(self) -> tuple[FoundFile, ...]:
        from ragforge.brain.files.walk import walk

        if time.monotonic() > self._walked_at + SAME_WALK_SECONDS:
            try:
                self._files = walk(self.root, self.ingester.limits).files
            except OSError:  # the folder is gone; the ingestion reports it
                self._files = ()
            self._walked_at = time.monotonic()
        return self._files
