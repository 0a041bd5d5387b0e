"""Automatic reading: a project is read when it is first needed, and kept current."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

from ragforge.app.features.extras import describe_missing_grammars
from ragforge.app.features.jobs import Jobs
from ragforge.app.wiring.brain import name_ingest_kind
from ragforge.app.wiring.remaining_work import start_detached_reading
from ragforge.app.wiring.trust import FolderTrust
from ragforge.brain.ingestion.progress import OnStep
from ragforge.brain.project import Brain
from ragforge.config.settings import Settings
from ragforge.domain.code import Reading
from ragforge.domain.instants import now
from ragforge.domain.text import Json, new_id
from ragforge.domain.work import NewJob
from ragforge.errors import RagForgeError

log = logging.getLogger(__name__)

FEW_FILES = 200
"""Up to this many are read before the first answer: that takes about a second."""
SETTLE_SECONDS = 0.05
STARTING_SECONDS = 60.0
"""A process that was started this recently may not hold its lock yet."""


@dataclass(slots=True)
class AutomaticReading:
    """Reads a project without a command, as far as the settings and the user allow it."""

    brain: Brain
    jobs: Jobs
    settings: Settings
    trust: FolderTrust
    detaches: bool = False  # this program may leave work to a separate process
    _process_started: float = -inf

    @property
    def is_wanted(self) -> bool:
        return self.settings.brain.ingest_automatically and self.trust.reads

    async def begin(self, on_step: OnStep = lambda _: None) -> Reading | None:
        """Read a project for the first time; return what is left to read, None if nothing is.

        A small project is read at once, for a few seconds at most; a large one by a separate
        process, if this program may start one. What was read before is not read again.
        """
        if not self.is_wanted:
            return None
        try:
            await self.brain.begin()
            reading = await self.find_reading()
            if reading is None or (reading.left > FEW_FILES and await self._is_done_elsewhere()):
                return reading
            async with asyncio.timeout(self.settings.brain.first_reading_seconds):
                report, _ = await self.brain.ingest(on_step)
                await self._wait_until_settled()
            if missing := describe_missing_grammars(report.skipped):
                log.warning("%s", missing)
        except TimeoutError:
            await self.queue()
            return await self.find_reading()
        except (OSError, RagForgeError) as error:  # a question is answered without the code too
            log.warning("The project is not read: %s", error)
        return None

    async def find_reading(self) -> Reading | None:
        """Return how far the first reading is, None if it is finished or the folder is not read."""
        unread = await self.brain.first_reading.find_unread() if self.trust.reads else None
        return None if unread is None else unread.reading

    async def queue(self, files: Sequence[str] = ()) -> bool:
        """Queue an ingestion, at most once a minute; tell whether the project is kept current.

        With `files`, relative to the project, only those are read, at any time.
        """
        if not self.is_wanted:
            return False
        if await self.brain.first_reading.is_unfinished() and await self._is_done_elsewhere():
            return True
        kind = name_ingest_kind(self.brain.project_id)
        who = self.jobs.identity  # no other user and machine has this checkout
        when = new_id() if files else int(now().timestamp()) // 60
        root = str(self.brain.root)
        payload: Json = {"root": root, "files": list(files)} if files else root
        job = NewJob(f"{kind}:{who.key}:{who.host}:{when}", kind, payload, machine=who.host)
        await self.jobs.store.jobs.enqueue([job])
        return True

    async def _is_done_elsewhere(self) -> bool:
        """Have a separate process read the project; return False if that is not allowed.

        That process reads only what the user allowed permanently, not what this program allowed.
        """
        if not self.detaches or not replace(self.trust, by_program=False).reads:
            return False
        is_starting = time.monotonic() < self._process_started + STARTING_SECONDS
        if not is_starting and not await self.brain.is_being_read():
            self._process_started = time.monotonic()
            start_detached_reading(self.settings, self.brain.root)
        return True

    async def _wait_until_settled(self) -> None:
        """Wait while another process reads or embeds the project."""
        settled = await self.brain.is_settled()
        while not settled:
            await asyncio.sleep(SETTLE_SECONDS)
            settled = await self.brain.is_settled()
