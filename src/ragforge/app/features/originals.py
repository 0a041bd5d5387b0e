"""Originals: the transcripts of other agents are kept in the background, and forgotten."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ragforge.app.wiring.background import KEEP_JOB
from ragforge.config.settings import Settings
from ragforge.domain.conversations import BEFORE_FIRST_TURN, ConversationFilter
from ragforge.domain.schema import CONVERSATION
from ragforge.domain.text import Json, new_id
from ragforge.domain.transcripts import TranscriptCursor
from ragforge.domain.work import NewJob
from ragforge.errors import ConversationNotFound, TranscriptUnreadable
from ragforge.originals.files import Original, OriginalFiles
from ragforge.ports.store import Store

log = logging.getLogger(__name__)

TOGETHER = 50
"""Number of transcripts in one job."""


def open_originals(settings: Settings) -> OriginalFiles:
    """Return the folder of originals: that of the user, whatever store is open."""
    return OriginalFiles(Path(settings.agent.state_dir) / "originals")


@dataclass(frozen=True)
class Originals:
    """Keeps the transcripts that were imported into a store."""

    store: Store
    settings: Settings
    host: str  # of the transcripts; empty: the store is used on one machine

    async def enqueue(self, read: Sequence[tuple[str, Path]]) -> None:
        """Queue a job that keeps transcripts."""
        if not self.settings.originals.keep:
            return
        every = [[agent, str(path)] for agent, path in read]
        for start in range(0, len(every), TOGETHER):
            some = every[start : start + TOGETHER]
            job = NewJob(f"{KEEP_JOB}:{new_id()}", KEEP_JOB, some, machine=self.host or None)
            await self.store.jobs.enqueue([job])

    async def work(self, payload: Json, is_excluded: Callable[[str], bool]) -> None:
        """Keep the transcripts that a job names."""
        from ragforge.originals.keep import keep

        files, kept = open_originals(self.settings), 0
        for agent, path in payload if isinstance(payload, list) else ():
            cursor = await self.store.transcripts.cursor(agent, self.host, path)
            names = await self._find_conversations(cursor, is_excluded)
            if not names:
                continue
            if await self._find_forgotten(names):
                await asyncio.to_thread(files.forget_path, agent, path)
                continue
            try:
                kept += await asyncio.to_thread(keep, files, agent, Path(path), names)
            except (OSError, ValueError, TranscriptUnreadable):
                log.info("The transcript %s is not kept", path, exc_info=True)
        if kept > 1 or files.is_check_due():
            limit = self.settings.originals.max_megabytes * 1_000_000
            with suppress(OSError):  # the next job tries it again
                await asyncio.to_thread(files.shrink, limit)

    async def find_lost(self, agents: Iterable[str]) -> list[Original]:
        """Return the originals of agents whose files are gone or changed, the oldest first."""
        from ragforge.originals.keep import is_there

        files, wanted = open_originals(self.settings), set(agents)
        found = [one for one in await asyncio.to_thread(files.find_all) if one.agent in wanted]
        in_order = sorted(found, key=lambda one: one.version)
        newest = {(one.agent, one.path): one.version for one in in_order}
        lost = []
        for one in found:
            if await self._find_forgotten(one.conversations):  # by another process or machine
                await asyncio.to_thread(files.forget, one.conversations)
            elif one.version < newest[one.agent, one.path] or not is_there(one):
                lost.append(one)
        return lost

    async def _find_conversations(
        self, cursor: TranscriptCursor, is_excluded: Callable[[str], bool]
    ) -> set[str]:
        """Return the conversations in a transcript as far as it was read; empty if excluded."""
        state = cursor.state if isinstance(cursor.state, dict) else {}
        sessions = (state.get("sessions") or {}).values()
        if any(facts[0] and is_excluded(facts[0]) for facts, _ in sessions):
            return set()
        folded = ((state.get("fold") or {}).get("sessions") or {}).values()
        names = {name for _, begun, _ in folded for name in begun}
        names |= {name for _, titles in sessions for name in titles}
        waiting = list(names)
        while waiting:  # a fork repeats the words of the session it comes from
            where = ConversationFilter(origin_of=waiting.pop())
            found = await self.store.records.find(CONVERSATION, where, 1)
            origins = {one.uuid for one in found}
            waiting += origins - names
            names |= origins
        return names

    async def _find_forgotten(self, conversations: Iterable[str]) -> set[str]:
        """Return which conversations were deleted. What is not stored yet is not."""
        known = await self.store.transcripts.look_up([], list(conversations))
        gone = set()
        for name, newest in known.turns.items():
            if newest == BEFORE_FIRST_TURN:
                try:
                    await self.store.records.get(CONVERSATION, name)
                except ConversationNotFound:
                    gone.add(name)
        return gone
