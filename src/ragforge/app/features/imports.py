"""Imports: bring the sessions that other agents recorded into the store."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.adapters.stores.holders import this_process
from ragforge.app.features.originals import Originals, open_originals
from ragforge.app.wiring.open_project import OpenProject
from ragforge.app.wiring.projects import find_related, recognise
from ragforge.config.store_url import is_server
from ragforge.connect.excluded import is_excluded, list_excluded
from ragforge.connect.ledger import Ledger
from ragforge.domain.code import make_id
from ragforge.domain.projects import (
    ProjectPlace,
    RepositoryIdentity,
    find_same,
    normalise_remote,
    view_project,
)
from ragforge.errors import ConversationNotFound, InputError, StoreFull
from ragforge.folders import find_project, is_too_wide
from ragforge.memory.summaries.condense import Condenser

if TYPE_CHECKING:
    from ragforge.domain.text import Json
    from ragforge.memory.importer.files import FileProblem, Importer, ImportProgress, ImportReport
    from ragforge.transcripts.source import TranscriptSource

# For the doors, from the rooms below.
__all__ = ["FileProblem", "ImportProgress", "ImportReport"]

FOLLOW_SECONDS = 10.0
"""How often it is checked whether other agents have written something new."""


@dataclass(frozen=True)
class Imports:
    """Imports the sessions of other agents on this machine. Their files are only read."""

    project: OpenProject
    condenser: Condenser
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _is_asked: asyncio.Event = field(default_factory=asyncio.Event)  # the caller wants to import
    _ignored: dict[str, str] = field(default_factory=dict)  # by sweeps, as they are now

    def list_agents(self) -> list[str]:
        """Return the names of the agents whose transcripts can be read."""
        return [source.name for source in _load_sources()]

    def name_agent(self, agent: str) -> str:
        """Return the name of an agent as it is shown."""
        titles = {source.name: source.title for source in _load_sources()}
        return titles.get(agent, agent)

    async def run(
        self,
        agents: Sequence[str] = (),
        path: Path | None = None,
        since: datetime | None = None,
        *,
        only_look: bool = False,
        on_progress: Callable[[ImportProgress], None] = lambda _: None,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> ImportReport:
        """Import what is new in the transcripts of some agents, or of all that are here.

        With `path` it is a transcript or a folder of them, wherever it lies; with `since`, those
        that changed after a moment. With `only_look` nothing is stored.
        Nothing else in this process imports meanwhile, so that the report has all of it: a sweep
        that is under way ends first, and the next begins after this.
        Raises InputError for an agent that is not known, and for a path that none or several
        may have written.
        """
        sources = _pick_sources(agents)
        async with self._stop_sweeps():
            stamps = await self.project.store.transcripts.stamps(self._host)
            return await self._import(
                sources, stamps, path, since, only_look, on_progress, is_stopped
            )

    @asynccontextmanager
    async def _stop_sweeps(self) -> AsyncIterator[None]:
        """Keep sweeps from running during an import that the caller asked for."""
        self._is_asked.set()
        try:
            async with self._lock:
                yield
        finally:
            self._is_asked.clear()

    async def _import(
        self,
        sources: Sequence[TranscriptSource],
        stamps: Mapping[str, Mapping[str, str]],
        path: Path | None = None,
        since: datetime | None = None,
        only_look: bool = False,
        on_progress: Callable[[ImportProgress], None] = lambda _: None,
        is_stopped: Callable[[], bool] = lambda: False,
        ignored: dict[str, str] | None = None,
    ) -> ImportReport:
        importer = self._make_importer(only_look, is_stopped, ignored)
        if not only_look:
            await self.project.store.transcripts.share_copies()
        found = await asyncio.to_thread(self._find_files, sources, path, since)
        report = await _import_files(importer, found, stamps, on_progress)
        if not only_look:
            await self._originals.enqueue(report.transcripts)
            await self._queue_jobs(report)
        return report

    async def run_again(
        self,
        agents: Sequence[str] = (),
        since: datetime | None = None,
        *,
        only_look: bool = False,
        on_progress: Callable[[ImportProgress], None] = lambda _: None,
    ) -> ImportReport:
        """Import kept transcripts whose files are gone or changed; all of each, as `run` does.

        With `since`, those that the agent wrote to after a moment. Raises InputError for an agent
        that is not known.
        """
        from ragforge.originals.keep import group_originals

        sources = _pick_sources(agents)
        async with self._stop_sweeps():
            lost = await self._originals.find_lost([source.name for source in sources])
            if since is not None:
                lost = [one for one in lost if one.written_at >= since.timestamp()]
            kept = group_originals(sources, open_originals(self.project.settings), lost)
            report = await _import_files(
                self._make_importer(only_look),
                [(source, list(source.originals)) for source in kept],
                await self.project.store.transcripts.stamps(self._host),
                on_progress,
            )
        if not only_look:
            await self._queue_jobs(report)
        return report

    async def keep_originals(self, payload: Json) -> None:
        """Keep the transcripts that a job names."""
        await self._originals.work(payload, self._make_exclusion())

    async def sweep(self, is_stopped: Callable[[], bool] = lambda: False) -> ImportReport | None:
        """Import what is new of agents that are connected, or were imported from before.

        Waits for other imports of this process. Returns None if there are no such agents.
        """
        if self.project.store.read_only:
            return None
        async with self._lock:
            stamps = await self.project.store.transcripts.stamps(self._host)
            connected = Ledger(self.project.state_dir).list_agents()
            followed = {*stamps, *connected}
            if not followed:
                return None
            return await self._import(
                [source for source in _load_sources() if source.name in followed],
                stamps,
                is_stopped=lambda: is_stopped() or self._is_asked.is_set(),
                ignored=self._ignored,
            )

    async def follow(self, stopping: asyncio.Event, seconds: float = FOLLOW_SECONDS) -> None:
        """Import what other agents write until `stopping` is set."""
        while not stopping.is_set():
            await self.sweep(stopping.is_set)
            with suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), seconds)

    def _make_importer(
        self,
        only_look: bool,
        is_stopped: Callable[[], bool] = lambda: False,
        ignored: dict[str, str] | None = None,
    ) -> Importer:
        from ragforge.memory.importer.files import Importer

        return Importer(
            self.project.store,
            self.project.identity,
            self._host,
            self._find_place,
            self.project.settings.agent.memory.max_result_chars,
            only_look=only_look,
            is_stopped=is_stopped,
            is_excluded=self._make_exclusion(),
            ignored={} if ignored is None else ignored,
        )

    @property
    def _originals(self) -> Originals:
        return Originals(self.project.store, self.project.settings, self._host)

    @property
    def _host(self) -> str:
        """The machine of the transcripts. A store in a file is used on one, whatever its name."""
        return this_process().machine if is_server(self.project.settings.store.url) else ""

    def _make_exclusion(self) -> Callable[[str], bool]:
        """Return a function that tells whether a directory is excluded now."""
        state = self.project.state_dir
        excluded = list_excluded(self.project.settings.connect.exclude, state)
        return cache(lambda cwd: is_excluded(Path(cwd), excluded))

    def _find_files(
        self, sources: Sequence[TranscriptSource], path: Path | None, since: datetime | None
    ) -> list[tuple[TranscriptSource, list[Path]]]:
        """Return the transcripts of each agent."""
        if path is not None:
            return [_find_at(path, sources, since)]
        projects = (self.project.project_path,)
        home, environ = Path.home(), os.environ
        found = ((one, list(one.find(home, environ, projects))) for one in sources)
        return [(source, _keep_since(paths, since)) for source, paths in found if paths]

    async def _find_place(self, cwd: str, remote: str | None) -> ProjectPlace:
        """Return the project of a directory.

        For one that is gone, it is the repository with its remote, or the project last seen there.
        """
        folder = Path(cwd)
        if not folder.is_absolute():
            return ProjectPlace.at(cwd)
        if await asyncio.to_thread(folder.is_dir):
            root = find_project(folder).resolve()
            return await recognise(self.project.store, root, self._host or None)
        if remote is not None and (address := normalise_remote(remote)) is not None:
            identity = RepositoryIdentity(address)
            same = find_same(identity, await find_related(self.project.store, cwd, identity))
            # The id that it gets when a checkout of it is opened.
            return ProjectPlace.at(cwd, same[0] if same else make_id("repository", address))
        for place in (folder, *folder.parents):
            if is_too_wide(place):
                break
            related = await find_related(self.project.store, str(place))
            for checkout in related:
                if checkout.path == str(place):
                    return view_project(checkout, related)
        return ProjectPlace.at(cwd)

    async def _queue_jobs(self, report: ImportReport) -> None:
        """Let vectors, links to code and summaries follow in the background."""
        from ragforge.memory.code.pending_links import enqueue_links
        from ragforge.memory.embed import enqueue_missing

        if report.is_empty:
            return
        if self.project.recall.embedder is not None:
            await enqueue_missing(self.project.store, self.project.recall.embedder)
        for project_id in sorted(report.projects):
            await enqueue_links(self.project.store, [project_id])
        for conversation_id in sorted(report.conversations):
            with suppress(ConversationNotFound):  # it was deleted before, or just now
                await self.condenser.enqueue_due(conversation_id)


def _load_sources() -> Sequence[TranscriptSource]:
    from ragforge.transcripts.sources import SOURCES  # most commands read no transcript

    return SOURCES


async def _import_files(
    importer: Importer,
    found: Iterable[tuple[TranscriptSource, Sequence[Path]]],
    stamps: Mapping[str, Mapping[str, str]],
    on_progress: Callable[[ImportProgress], None],
) -> ImportReport:
    """Import what is new in transcripts. A full disk is reported with what was imported before."""
    from ragforge.memory.importer.files import ImportReport

    report = ImportReport()
    try:
        for source, paths in found:
            known = stamps.get(source.name, {})
            await importer.import_files(source, paths, known, report, on_progress)
    except StoreFull as error:
        raise StoreFull(f"{error} {report.describe_kept()}") from error
    return report


def _pick_sources(agents: Sequence[str]) -> list[TranscriptSource]:
    sources = {source.name: source for source in _load_sources()}
    for agent in agents:
        if agent not in sources:
            raise InputError(
                f"Sessions of {agent!r} cannot be imported. Known agents: {', '.join(sources)}."
            )
    return [sources[agent] for agent in agents] if agents else list(sources.values())


def _find_at(
    path: Path, sources: Sequence[TranscriptSource], since: datetime | None
) -> tuple[TranscriptSource, list[Path]]:
    """Return the agent that wrote what lies at a path, and the transcripts there."""
    from ragforge.transcripts.files import walk_files

    place = path.expanduser().absolute()
    if not place.exists():
        raise InputError(f"{path} does not exist.")
    found = []
    for source in sources:
        paths = sorted(walk_files(place, source.fits)) if place.is_dir() else [place]
        if paths := [one for one in paths if len(sources) == 1 or source.fits(one)]:
            found.append((source, paths))
    if not found:
        raise InputError(f"{path} contains no transcript that RagForge can read.")
    if len(found) > 1:
        names = ", ".join(source.name for source, _ in found)
        raise InputError(f"{path} may be a transcript of {names}. Choose the agent with --from.")
    source, paths = found[0]
    return source, _keep_since(paths, since)


def _keep_since(paths: Sequence[Path], since: datetime | None) -> list[Path]:
    """Return the files that changed after a moment; those that are gone stay for the report."""
    if since is None:
        return list(paths)
    kept = []
    for path in paths:
        try:
            changed = path.stat().st_mtime
        except OSError:
            changed = since.timestamp()
        if changed >= since.timestamp():
            kept.append(path)
    return kept
