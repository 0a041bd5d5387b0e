"""The brain of one project: ingest it, keep it current, search it, report its state."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.brain.ingestion import embed, progress
from ragforge.brain.ingestion.embed import embed_scopes
from ragforge.brain.ingestion.progress import IngestionReport, IngestionStep, OnStep
from ragforge.domain.code import NEW, File, FileFilter, ProjectFilter
from ragforge.domain.hits import SMALL_TALK, RelevantHits
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.schema import FILE, PROJECT
from ragforge.errors import InputError, ModelError
from ragforge.ports.models import Embedder
from ragforge.ports.store import Store
from ragforge.records import dataclass
from ragforge.search.words.tokenise import WORDS

if TYPE_CHECKING:
    from ragforge.brain.ingestion.ingest import Ingester
    from ragforge.brain.search.code import CodeFinder, CodeHit
    from ragforge.brain.search.documents import DocumentHit
    from ragforge.brain.search.unread import Unread
    from ragforge.brain.status import FirstReading, ProjectStatus
    from ragforge.ports.code_graph import CodeGraph
    from ragforge.ports.web import WebPage

SEMANTIC_LIMIT = 100
DOCUMENT_LIMIT = 8
"""How many documents and configuration files are listed after code."""
MAX_CHECKOUTS = 5
"""How many other checkouts are asked for vectors: a team may have hundreds."""
FEW = 100
"""Up to this many changed files, scopes to embed are looked up by path."""


@dataclass(frozen=True)
class Brain:
    """One project's code, in a store that may hold many."""

    root: Path
    ingester: Ingester
    place: ProjectPlace
    first_reading: FirstReading
    embedder: Embedder | None = None
    on_ingested: Callable[[], Awaitable[object]] | None = None  # called after each ingestion
    on_former: Callable[[], Awaitable[object]] | None = None
    """Called before the end of the first ingestion of what an earlier version stored."""

    @property
    def store(self) -> Store:
        """The store that the code is in."""
        return self.ingester.store

    @property
    def code(self) -> CodeGraph:
        """The code of all projects in the store."""
        return self.store.code

    @cached_property
    def finder(self) -> CodeFinder:
        """Searches the code."""
        from ragforge.brain.search.code import CodeFinder  # most of a start searches nothing

        return CodeFinder(self.store, self.embedder, WORDS)

    @property
    def project_id(self) -> str:
        """The id of the checkout, by which its code is known."""
        return self.place.checkout_id

    async def is_ingested(self) -> bool:
        """Tell whether the project has been ingested."""
        project = await self.ingester.find_project(self.project_id)
        return project is not None and project.state != NEW

    async def ingest(
        self,
        on_step: OnStep = lambda _: None,
        paths: Collection[str] | None = None,
        scip: Path | None = None,
    ) -> tuple[IngestionReport, int]:
        """Bring everything up to date; return what was done and how many scopes were embedded.

        With `paths`, relative to the root, only those files are compared. `scip` is the index of
        an exact indexer: relations of the files that it describes come from there. Raises OSError
        if the project cannot be listed, InputError if the index cannot be read, ModelError if
        embedding fails: what was read stays, and can be found by words.
        """
        recent = await self.first_reading.list_recent_files()
        report = await self.ingester.ingest(self.root, on_step, self.place, paths, recent, scip)
        assert report.after is not None
        if self.on_former is not None and report.after.is_former:
            await self.on_former()
        report = replace(report, after=await embed.finish(self.store, report.after))
        if self.on_ingested is not None:
            await self.on_ingested()
        return report, await self._embed(report, on_step)

    async def _embed(self, report: IngestionReport, on_step: OnStep) -> int:
        """Embed what an ingestion left without a vector; return how many scopes."""
        embedder = self.embedder
        assert report.before is not None
        assert report.after is not None
        if embedder is None or report.after.state == embed.format_embedded_state(embedder.name):
            return 0

        def report_embedded(done: int, total: int) -> None:
            on_step(IngestionStep("embedding", done, total))

        was_settled = report.before.state == embed.format_embedded_state(embedder.name)
        few = was_settled and len(report.changed) <= FEW
        checkouts = await self.store.records.find(PROJECT, ProjectFilter(self.place.ids))
        others = [one.uuid for one in checkouts if one.uuid != self.project_id]
        count = await embed_scopes(
            self.store,
            self.ingester.holder,
            embedder,
            self.project_id,
            report_embedded,
            report.changed if few else None,
            others[:MAX_CHECKOUTS],
        )
        await embed.settle(self.store.records, report.after, embedder.name)
        return count

    async def search(
        self, question: str, limit: int = 10, under: str | None = None, *, semantic: bool = True
    ) -> list[CodeHit]:
        """Return the scopes that are relevant to a question, best first.

        Words decide without `semantic`, and while vectors are missing. During the first reading
        of the project the files that were not read yet are searched too.
        """
        from ragforge.search.question.wording import leave_out_project

        unread, settled = await asyncio.gather(self.first_reading.find_unread(), self.is_settled())
        by_meaning = semantic and (settled or unread is not None)
        finder = self.finder if by_meaning else replace(self.finder, embedder=None)
        asked = leave_out_project(question, self.root.resolve().name)
        return await finder.search(asked, self.project_id, under, limit, unread)

    async def find_unknown_words(self, question: str, unread: Unread | None) -> list[str]:
        """Return the telling words of a question that the project holds nowhere.

        Small talk has none. Files that were not read yet are searched, too.
        """
        from ragforge.search.question.message_kinds import needs_nothing

        if needs_nothing(question):
            return []
        unknown = await self.finder.find_unknown_words(question, self.project_id)
        return unknown if unread is None else await unread.list_absent(unknown, WORDS)

    async def begin(self) -> None:
        """Store a project that is not known yet, so that its files may be read."""
        if await self.ingester.find_project(self.project_id) is None:
            await self.ingester.ensure_project(self.root.resolve(), self.place)

    async def is_being_read(self) -> bool:
        """Tell whether a process is reading or embedding the project now."""
        return bool(await self.store.locks.held(self._lock_names))

    async def search_code_semantic(
        self,
        query: str,
        cwd: Path,
        *,
        initial_limit: int = SEMANTIC_LIMIT,
        max_chars: int | None = None,
        min_score: float = 0.0,
        subdirectory_only: bool = False,
        relevant_only: bool = False,
    ) -> list[CodeHit]:
        """Return scopes of the subtree of `cwd` within a budget of characters, best first.

        While the project is being changed or embedded, only words decide. At the root the whole
        project is searched, or nothing with `subdirectory_only`. `min_score` is relative to the
        best hit. With `relevant_only` nothing is returned if the query has nothing to do with the
        code.
        """
        from ragforge.brain.search.code import keep_within

        under = find_subdirectory(self.root, cwd)
        if under is None or (not under and subdirectory_only):
            return []
        if relevant_only:
            found = await self.find_relevant_code(query, under, initial_limit)
            hits = list(found.hits)
        else:
            hits = await self.search(query, initial_limit, under or None)
        return keep_within([hit for hit in hits if hit.score >= min_score], max_chars)

    async def find_relevant_code(
        self, message: str, under: str = "", limit: int = SEMANTIC_LIMIT
    ) -> RelevantHits[CodeHit]:
        """Return the scopes below a directory that are relevant to a message, or why none are.

        A search always returns the best hits; a message that is not a search gets code only
        if it is about code.
        """
        from ragforge.brain.search.code import keep_relevant
        from ragforge.search.question.message_kinds import needs_nothing

        if needs_nothing(message):
            return RelevantHits(reason=SMALL_TALK)
        return keep_relevant(await self.search(message, limit, under or None))

    async def search_documents(
        self, query: str, cwd: Path | None = None, limit: int = 10, *, relevant_only: bool = False
    ) -> list[CodeHit]:
        """Return sections of documents below `cwd` that are relevant to a query, best first.

        Code search never returns them. With `relevant_only` nothing is returned if the query
        has nothing to do with them.
        """
        from ragforge.brain.search.documents import search_documents

        under = "" if cwd is None else find_subdirectory(self.root, cwd)
        if under is None:
            return []
        if relevant_only:
            return list((await self.find_relevant_documents(query, under, limit)).hits)
        unread = await self.first_reading.find_unread()
        return await search_documents(
            self.finder, query, self.project_id, under or None, limit, unread=unread
        )

    async def search_docs_and_config(
        self,
        query: str,
        under: str | None = None,
        limit: int = DOCUMENT_LIMIT,
        shown: Collection[str] = (),
    ) -> list[DocumentHit]:
        """Return parts of documents and configuration files for a query about code, best first.

        Nothing is returned for a query that has nothing to do with them. Scopes whose ids are
        `shown` are left out.
        """
        from ragforge.brain.search.documents import search_docs_and_config

        unread = await self.first_reading.find_unread()
        return await search_docs_and_config(
            self.finder, query, self.project_id, under or None, limit, shown, unread
        )

    async def find_relevant_documents(
        self, message: str, under: str = "", limit: int = 10
    ) -> RelevantHits[CodeHit]:
        """Return the sections that are relevant to a message, or why none are.

        They are of documents below a directory, and of web pages.
        """
        from ragforge.brain.search.code import keep_relevant
        from ragforge.brain.search.documents import search_documents
        from ragforge.search.question.message_kinds import needs_nothing

        if needs_nothing(message):
            return RelevantHits(reason=SMALL_TALK)
        unread, settled = await asyncio.gather(self.first_reading.find_unread(), self.is_settled())
        finder = self.finder if settled else replace(self.finder, embedder=None)
        hits = await search_documents(
            finder, message, self.project_id, under or None, limit, with_pages=True, unread=unread
        )
        return keep_relevant(hits)

    async def save_page(self, page: WebPage) -> None:
        """Store a web page, or replace it, so that searches of documents find it."""
        from ragforge.brain.ingestion.web_pages import save_page

        project = await self.ingester.ensure_project(self.root.resolve(), self.place)
        await save_page(self.store, self.embedder, project, page)

    async def list_pages(self) -> list[File]:
        """Return the web pages that were stored, by address."""
        return await self.store.records.find(FILE, FileFilter(self.project_id, pages=True))

    async def forget_page(self, url: str) -> bool:
        """Forget a web page; tell whether there was one."""
        known = any(page.path == url for page in await self.list_pages())
        if known:
            await self.code.remove_files(self.project_id, [url])
        return known

    async def is_settled(self) -> bool:
        """Tell whether no process is changing or embedding what is stored of the project.

        A process that only looks whether files have changed holds a lock too: then the project
        is still settled. Searches that begin together ask the store once.
        """
        look = self._looks.get(loop := asyncio.get_running_loop())
        if look is None:
            look = self._looks[loop] = loop.create_task(self._look_at_locks())
            look.add_done_callback(lambda _: self._looks.pop(loop))
        return await asyncio.shield(look)  # one that is late must not end the others

    @cached_property
    def _looks(self) -> dict[asyncio.AbstractEventLoop, asyncio.Task[bool]]:
        """The look at the locks that is under way, if there is one."""
        return {}

    async def _look_at_locks(self) -> bool:
        if not await self.store.locks.held(self._lock_names):
            return True
        return await self._is_embedded()

    @property
    def _lock_names(self) -> tuple[str, str]:
        """The locks of an ingestion and of an embedding."""
        id_ = self.project_id
        return progress.name_ingestion_lock(id_), progress.name_embedding_lock(id_)

    async def _is_embedded(self) -> bool:
        """Tell whether all scopes have vectors, and no ingestion has changed any since."""
        if (embedder := self.embedder) is None:
            return False
        name = embed.format_embedded_state(embedder.name)
        project = await self.ingester.find_project(self.project_id)
        return project is not None and project.state == name

    async def status(self, thorough: bool = False) -> ProjectStatus:
        """Return how current what is stored of the project is."""
        from ragforge.brain.status import read_status  # most commands ask for none

        model = self.embedder.name if self.embedder else None
        return await read_status(self.ingester, self.root, self.project_id, model, thorough)

    async def watch(
        self, stopping: asyncio.Event, on_report: Callable[[IngestionReport], None] = lambda _: None
    ) -> None:
        """Keep the project current, a batch of changes at a time, until `stopping` is set.

        Raises InputError if the directory is removed or cannot be listed any more.
        """
        from ragforge.brain.files.watch import watch_changes

        try:
            async for paths in watch_changes(self.root, stopping, limits=self.ingester.limits):
                with suppress(ModelError):  # a later batch, or the next run, embeds what is left
                    report, _ = await self.ingest(paths=paths or None)
                    on_report(report)
        except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
            if os.access(self.root, os.R_OK | os.X_OK):
                raise
            raise InputError(
                f"{self.root} was removed or cannot be read any more: nothing is left to watch."
            ) from error


def find_subdirectory(root: Path, cwd: Path) -> str | None:
    """Return a directory's path relative to the root, "" for the root, None if outside."""
    try:
        path = cwd.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return None
    return "" if path == "." else path
