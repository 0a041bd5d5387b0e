"""Code: what is known of a project's code and documents, kept current and searched."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.adapters.stores.holders import this_process
from ragforge.app.features.jobs import AutomaticReading, Jobs
from ragforge.app.wiring.brain import open_brain
from ragforge.app.wiring.identity import find_identity
from ragforge.app.wiring.models import open_embedder
from ragforge.app.wiring.projects import open_git, recognise_project
from ragforge.app.wiring.remaining_work import do_upkeep, start_detached_worker
from ragforge.app.wiring.stores import use_store
from ragforge.app.wiring.trust import FolderTrust
from ragforge.brain.ingestion.progress import IngestionReport, IngestionStep, OnStep
from ragforge.brain.project import DOCUMENT_LIMIT, Brain, find_subdirectory
from ragforge.brain.status import ProjectStatus
from ragforge.domain.code import ScopeFilter
from ragforge.domain.schema import SCOPE_NAME
from ragforge.domain.text import Json
from ragforge.errors import InputError
from ragforge.folders import find_project
from ragforge.memory.sessions import normalise

if TYPE_CHECKING:
    from ragforge.brain.search.code import CodeHit
    from ragforge.brain.search.documents import DocumentHit
    from ragforge.config.settings import Settings
    from ragforge.domain.code import File, Reading, RelationAsked, ScopeName
    from ragforge.ports.store import Upkeep
    from ragforge.ports.web import WebPage
    from ragforge.tools.workspace import Workspace

# For the doors, from the rooms below.
__all__ = ["CodeHit", "DocumentHit", "IngestionReport", "IngestionStep", "OnStep", "ProjectStatus"]

log = logging.getLogger(__name__)

CODE_HITS = 10
SEMANTIC_LIMIT = 100
LISTING_SECONDS = 5.0


@dataclass(frozen=True)
class Code:
    """The code and documents of one project, as they are known to a store."""

    brain: Brain
    jobs: Jobs
    cwd: Path
    settings: Settings
    trust: FolderTrust
    upkeep: Upkeep
    detaches: bool = False  # this program may leave work to a separate process

    @property
    def project_path(self) -> Path:
        return self.brain.root

    @property
    def is_kept_current(self) -> bool:
        """Whether asking also brings the code up to date in the background."""
        return self.settings.brain.ingest_automatically

    @property
    def is_read(self) -> bool:
        """Whether files are read: this is a project, or the user allowed it."""
        return self.trust.reads

    async def is_ingested(self) -> bool:
        """Tell whether the project was ever ingested."""
        return await self.brain.is_ingested()

    async def ingest(
        self, on_step: OnStep = lambda _: None, files: Sequence[Path] = (), scip: Path | None = None
    ) -> tuple[IngestionReport, int]:
        """Bring what is known of the project's code up to date, or of some of its files.

        Returns what was done, and how many scopes were embedded. A folder that is not a project
        is read from now on. With the index of an exact indexer, in the format SCIP, relations of
        the files that have not changed since come from there. Raises InputError for a home
        directory that was not allowed to be read, a file outside of the project or a damaged
        index, OSError if the project cannot be listed, ModelError if embedding fails.
        """
        self.trust.allow_by_name()
        paths = [self._locate_file(file) for file in files]
        return await self.brain.ingest(on_step, paths or None, scip)

    async def draft_instructions(self) -> str:
        """Return a first AGENTS.md for the project, out of what is known of its code."""
        from ragforge.app.features.draft_instructions import draft_instructions

        if reading := await self.automatic_reading.begin():
            raise InputError(f"The project is not read yet ({reading}). Try again in a moment.")
        brain = self.brain
        return await draft_instructions(brain.store, brain.project_id, brain.root)

    @cached_property
    def automatic_reading(self) -> AutomaticReading:
        """Reads the project when it is first needed, and keeps it current."""
        return AutomaticReading(self.brain, self.jobs, self.settings, self.trust, self.detaches)

    async def is_whole(self) -> bool:
        """Tell whether the first reading of the project is finished."""
        return await self.is_ingested() and await self.find_reading() is None

    async def find_reading(self) -> Reading | None:
        """Return how far the first reading of the project is, None if it is finished."""
        return await self.automatic_reading.find_reading()

    async def find_unknown_words(self, question: str) -> list[str]:
        """Return the telling words of a question that code and documents hold nowhere."""
        if not self.is_read:
            return []
        unread = await self.brain.first_reading.find_unread()
        return await self.brain.find_unknown_words(question, unread)

    async def watch(
        self, stopping: asyncio.Event, on_report: Callable[[IngestionReport], None] = lambda _: None
    ) -> None:
        """Ingest changed files until `stopping` is set, a batch at a time.

        Raises InputError for a home directory that was not allowed to be read.
        """
        self.trust.allow_by_name()
        await self.brain.watch(stopping, on_report)

    async def status(self, thorough: bool = False) -> ProjectStatus:
        """Return what is known of the project, how fresh it is and what is pending.

        With `thorough`, every file of a large project is compared too.
        """
        found = ProjectStatus(str(self.project_path), known=False)
        if self.is_read:  # to compare is to read
            found = await self.brain.status(thorough)
        place = self.brain.place
        checkouts = tuple(sorted(f"{one.host}:{one.path}" for one in place.checkouts))
        return replace(
            found,
            project_id=place.id,
            remotes=place.remotes,
            checkouts=checkouts,
            reading=await self.find_reading(),
            reindexing=await self.upkeep.reindexing(),
        )

    async def forget(self, path: Path) -> int:
        """Forget the code of the project, or of a directory or file in it; return how many files.

        Raises InputError if the path is not in the project.
        """
        return await self.brain.ingester.forget(self.brain.project_id, self.locate(path) or None)

    async def keep_page(self, page: WebPage) -> bool:
        """Store a web page with the project, if its folder may be read; tell whether it is."""
        if self.is_read:
            await self.brain.save_page(page)
        return self.is_read

    async def list_pages(self) -> list[File]:
        """Return the web pages that are stored with the project, by address."""
        return await self.brain.list_pages()

    async def forget_page(self, url: str) -> None:
        """Forget a web page. Raises InputError if none has this address."""
        if not await self.brain.forget_page(url):
            raise InputError(f"No page {url} is stored here. `ragforge pages` lists them.")

    async def search(
        self,
        query: str,
        limit: int = CODE_HITS,
        under: str | None = None,
        on_step: OnStep = lambda _: None,
        *,
        semantic: bool = True,
    ) -> list[CodeHit]:
        """Return the code that is relevant to a query, best first.

        `under` is a path in the project. The first reading of a project begins with its first
        search; what is not read yet is searched by words, and `find_reading` tells how far it is.
        Nothing is returned for a folder that may not be read. Without `semantic` only words
        decide.
        """
        if not await self._begin_reading(on_step):
            return []
        return await self.brain.search(query, limit, under, semantic=semantic)

    async def search_documents(
        self,
        query: str,
        limit: int = CODE_HITS,
        under: str | None = None,
        on_step: OnStep = lambda _: None,
    ) -> list[CodeHit]:
        """Return the sections of documents that are relevant to a query, as `search` does code."""
        if not await self._begin_reading(on_step):
            return []
        return await self.brain.search_documents(query, self.project_path / (under or ""), limit)

    async def search_docs_and_config(
        self,
        query: str,
        found: Sequence[CodeHit] = (),
        limit: int = DOCUMENT_LIMIT,
        under: str | None = None,
    ) -> list[DocumentHit]:
        """Return documents and configuration files for a query about code, best first.

        What is in `found` already is left out.
        """
        if not self.is_read:
            return []
        shown = [hit.scope.uuid for hit in found]
        return await self.brain.search_docs_and_config(query, under, limit, shown)

    async def search_semantic(
        self,
        query: str,
        cwd: str | Path | None = None,
        *,
        initial_limit: int = SEMANTIC_LIMIT,
        max_chars: int | None = None,
        min_score: float = 0.0,
    ) -> list[CodeHit]:
        """Return code below a directory within a budget of characters, best first.

        The directory is the opened one if none is given. Returns nothing while the project is
        being ingested or embedded, or was never ingested.
        """
        if not self.is_read:
            return []
        return await self.brain.search_code_semantic(
            query,
            self.cwd if cwd is None else Path(cwd).expanduser(),
            initial_limit=initial_limit,
            max_chars=max_chars,
            min_score=min_score,
            subdirectory_only=self.settings.agent.memory.subdirectory_only,
        )

    async def explore(
        self,
        name: str,
        relation: RelationAsked | None = None,
        depth: int | None = None,
        *,
        limit: int | None = None,
        source: bool = False,
    ) -> dict[str, Json]:
        """Return the code with a name, with its callers, members, … or only one of these.

        The name may be qualified, a path, or `path:line`. If several have it, they are listed.
        Raises InputError if there is no such code: the message names the most similar.
        """
        from ragforge.brain.search.exploration import Question
        from ragforge.brain.search.explore import explore

        asked = Question(name.strip(), relation, depth, limit, source)
        return (await explore(self.brain.store, self.brain.project_id, asked)).to_json()

    async def outline(self, file: str) -> list[ScopeName]:
        """Return what is in a file of the project, in the order of its lines; [] if unknown."""
        where = ScopeFilter(self.brain.project_id, [file])
        return await self.brain.store.records.find(SCOPE_NAME, where)

    async def diff_since(self, file: str, when: datetime) -> str | None:
        """Return the redacted diff of a file since its last commit before a moment, if any."""
        from ragforge.memory.secrets.redact import redact

        if not self.is_read:
            return None
        found = await open_git(self.project_path).diff_since(file, when)
        return None if found is None else redact(found)

    async def find_users(self, file: str, line: int, limit: int = 3) -> tuple[str, ...]:
        """Return places that use or test the code at a line, as `file:start-end name`."""
        try:
            found = await self.explore(f"{file}:{line}")
        except InputError:
            return ()
        users = found.get("used_by")
        return tuple(users[:limit]) if isinstance(users, list) else ()

    def locate(self, path: Path) -> str:
        """Return the path of a place relative to the project, "" for the project itself.

        Raises InputError if it is outside.
        """
        inside = find_subdirectory(self.project_path, path)
        if inside is None:
            raise InputError(f"{path} is not in the project {self.project_path}.")
        return inside

    def _locate_file(self, file: Path) -> str:
        """Return the path of a file relative to the project; a link is not followed."""
        return Path(self.locate(file.parent), file.name).as_posix()

    def list_files(self) -> Sequence[str]:
        """Return the files of the project, as far as they can be listed in a few seconds.

        Raises OSError, RagForgeError.
        """
        from ragforge.tools.workspace import Deadline

        if not self.is_read:
            return ()
        deadline = Deadline(LISTING_SECONDS)
        return self._workspace.listing.select("", deadline, searched=False).files

    @cached_property
    def _workspace(self) -> Workspace:
        from ragforge.tools.workspace import Workspace

        return Workspace.at(self.project_path)

    async def _begin_reading(self, on_step: OnStep) -> bool:
        """Begin to read a project that is not known yet; tell whether the folder may be read.

        One that is not kept current is read completely: nothing else would read it.
        """
        if not self.is_kept_current or not self.is_read:
            return await self.ingest_once(on_step)
        await self.automatic_reading.begin(on_step)
        return True

    async def ingest_once(self, on_step: OnStep = lambda _: None) -> bool:
        """Ingest a project that is not known yet; return whether the folder may be read."""
        if not self.is_read:
            log.warning("%s", self.trust.describe_unread())
            return False
        if not await self.is_ingested():
            await self.brain.ingest(on_step)
        return True


@asynccontextmanager
async def open_code(settings: Settings, cwd: Path) -> AsyncIterator[Code]:
    """Open only the code of the project around a directory; queued jobs are left to others."""
    async with use_store(settings) as store:
        place, embedder = normalise(cwd), open_embedder(settings)
        try:
            known = await recognise_project(settings, store, place)
            brain = open_brain(settings, store, embedder, find_project(place), known)
            yield Code(
                brain=brain,
                jobs=Jobs(store, brain.project_id, find_identity(settings)),
                cwd=place,
                settings=settings,
                trust=FolderTrust.of(settings, brain.root),
                upkeep=store.upkeep,
                detaches=settings.jobs.detach,
            )
            if await do_upkeep(store, this_process()) and settings.jobs.detach:
                start_detached_worker(settings, place)
        finally:
            if embedder is not None:
                await embedder.close()
