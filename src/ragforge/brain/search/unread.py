"""Unread: what may answer a question before the first reading of a project has read all files.

Words find scopes in the store and point at files that were not read yet; the few best of these are
parsed for one question. Nothing is stored: that would wait for the reading, or disturb it. All
scopes are scored alike, and an instant embedding model compares the best with the question.
"""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ragforge.brain.files.walk import FoundFile, WantedFiles
from ragforge.brain.languages.language import is_under
from ragforge.brain.languages.table import is_document_path
from ragforge.concurrency import gather_or_cancel
from ragforge.domain.code import (
    MODULE,
    SECTION,
    WHOLE_FILES,
    CodeFilter,
    Reading,
    Scope,
    ScopeFilter,
    ScopeMatch,
    ScopeName,
)
from ragforge.domain.kinds import STORED, Redactor
from ragforge.domain.schema import SCOPE, SCOPE_NAME
from ragforge.domain.text import Json
from ragforge.domain.vectors import Vector
from ragforge.errors import ModelError
from ragforge.ports.models import Embedder
from ragforge.ports.search_index import COUNTED_WORDS, CountWords, Tokeniser, WordCounts
from ragforge.ports.store import Store
from ragforge.records import dataclass
from ragforge.search.question.wording import WordGroup, Wording
from ragforge.search.rank import Candidates, rank
from ragforge.search.rank_paths import is_secondary
from ragforge.search.scope_words import (
    format_scopes,
    name_scope,
    score_counts,
    score_scopes,
    weigh_words,
)

POINTED = 24
"""How many files are parsed for one question."""
POINTED_BYTES = 500_000
POINTED_DOCUMENTS = 10
"""A document says by its words what it is about; code is ranked by what it defines."""
CANDIDATES = 400
BY_WORDS = 150
COMPARED_FILES = 40


def is_code(path: str) -> bool:
    """Tell whether code search may return what is in a file."""
    return not is_document_path(path)


@dataclass(frozen=True)
class Unread:
    """A project whose first reading is not finished."""

    root: Path
    project_id: str
    files: tuple[FoundFile, ...]  # all
    read: frozenset[str] = frozenset()  # the paths of those that are stored
    count: CountWords | None = None  # None: only paths point at files
    redactor: Redactor = STORED
    wanted: WantedFiles | None = None
    is_meant: Callable[[str], bool] = is_code  # which files are searched
    is_secondary: Callable[[str], bool] = is_secondary  # which of them are seldom meant
    limit: int = POINTED

    def choose(
        self, is_meant: Callable[[str], bool], is_secondary: Callable[[str], bool]
    ) -> Unread:
        """Return the same for documents and the like; what is read next is left to code."""
        return replace(
            self, is_meant=is_meant, is_secondary=is_secondary, limit=POINTED_DOCUMENTS, wanted=None
        )

    @property
    def reading(self) -> Reading:
        return Reading(sum(file.path in self.read for file in self.files), len(self.files))

    async def count_words(self, words: Sequence[str]) -> tuple[WordCounts, dict[str, float]]:
        """Return how often words occur in the files, and what each word is worth."""
        paths = list(self.sizes)
        counts = {} if self.count is None else await self.count(paths, words)
        return counts, weigh_words(words, counts, len(paths))

    async def list_absent(self, words: Sequence[str], tokeniser: Tokeniser) -> list[str]:
        """Return those of the words that occur in no file; none if words cannot be counted."""
        if not words or self.count is None:
            return []
        stems = {word: tokeniser.query(word) for word in words}
        paths = [file.path for file in self.files]
        counts = await self.count(paths, [stem for some in stems.values() for stem in some])
        held = {stem for counted in counts.values() for stem in counted}
        return [word for word, some in stems.items() if held.isdisjoint(some)]

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The sizes of all files that are searched, by path."""
        return {file.path: file.size for file in self.files if self.is_meant(file.path)}

    def point(
        self,
        question: str,
        counts: WordCounts,
        worth: Mapping[str, float],
        groups: Sequence[WordGroup],
        tokeniser: Tokeniser,
        under: str | None = None,
    ) -> list[str]:
        """Return the unread files that a question's words and the paths point at, best first.

        The process that reads the project is asked to read them next.
        """
        scores = score_counts(counts, self.sizes, worth)
        found = [
            ScopeMatch(_name_file(path), scores.get(path, 0.0))
            for path in self.sizes
            if path not in self.read
            and is_under(path, under)
            and (path in scores or any(word in path.lower() for word in worth))
        ]
        found.sort(key=lambda match: (-match.score, match.id))
        likely = Candidates(found[: CANDIDATES * self.limit // POINTED])
        ranked = rank(
            question, likely, tokeniser, self.limit, groups=groups, secondary=self.is_secondary
        )
        pointed = [one.id for one in ranked]
        if self.wanted is not None:
            self.wanted.add(pointed)
        return pointed

    def parse(self, paths: Iterable[str]) -> list[Scope]:
        """Return what is in files, without its secrets, up to a number of bytes."""
        left = POINTED_BYTES
        scopes: list[Scope] = []
        for path in paths:
            if self.sizes[path] > left:
                continue
            left -= self.sizes[path]
            scopes += self._parse_file(path)
        return scopes

    def _parse_file(self, path: str) -> list[Scope]:
        from ragforge.brain.parse.read_source import NeedsFence, read_file  # it loads the parsers

        root = os.path.realpath(self.root)
        try:
            found = read_file(root, self.project_id, path, 0, is_fenced=False)
        except NeedsFence:  # the reading parses it in a process that can be killed
            return []
        scopes = found.parsed.scopes if found.parsed is not None else ()
        kept = [scope for scope in scopes if scope.type != SECTION or not is_code(path)]
        if self.redactor.is_clean(_list_texts(kept)):
            return kept
        return [SCOPE.redact(scope, self.redactor) for scope in kept]


def _list_texts(scopes: Iterable[Scope]) -> Iterator[Json]:
    """Yield the texts of a file's scopes, without those that are inside the longest one."""
    texts = {text for scope in scopes for text in SCOPE.list_texts(scope) if isinstance(text, str)}
    longest = max(texts, key=len, default="")
    yield longest
    yield from (text for text in texts if text not in longest)


def _name_file(path: str) -> ScopeName:
    return ScopeName(path, path.rpartition("/")[2], path, MODULE, path, 1, 1, "")


@dataclass(frozen=True, slots=True)
class SearchWhileReading:
    """Searches what is stored of a project, and the files that are not."""

    store: Store
    embedder: Embedder | None
    tokeniser: Tokeniser
    unread: Unread

    async def find(
        self, asked: Wording, groups: Sequence[WordGroup], names: Collection[str], where: CodeFilter
    ) -> tuple[Candidates, dict[str, Scope], frozenset[str]]:
        """Return the candidates for a question, all scopes among them by their ids, and the words
        of the question that the project holds.

        Among those by name are only the ones of files that are not read yet.
        """

        async def search_stored() -> Sequence[ScopeMatch]:
            return (await self.store.code.search(asked.text, None, where, BY_WORDS)).by_words

        found, scopes, known = await self.find_by_words(
            asked.text, groups, where.under, search_stored()
        )
        best = found[:BY_WORDS]
        called = [
            name_scope(scope)
            for scope in scopes.values()
            if scope.file not in self.unread.read
            and (scope.name in names or scope.qualified_name in names)
        ]
        near: list[ScopeMatch] = []
        if self.embedder is not None and self.embedder.weights.is_instant:
            files = list(dict.fromkeys(match.scope.file for match in best))[:COMPARED_FILES]
            with suppress(ModelError):
                near = await self._compare_files(self.embedder, asked, files, scopes)
        return Candidates(best, files_by_meaning=near, by_name=called), scopes, known

    async def add_unread(
        self, found: Candidates, asked: Wording, under: str | None
    ) -> tuple[Candidates, dict[str, Scope], frozenset[str]]:
        """Return candidates with those of unread files, their scopes by id, and the known words."""

        async def take() -> Sequence[ScopeMatch]:
            return found.by_words

        by_words, scopes, known = await self.find_by_words(asked.text, asked.groups, under, take())
        return replace(found, by_words=by_words[:BY_WORDS]), scopes, known

    async def find_by_words(
        self,
        text: str,
        groups: Sequence[WordGroup],
        under: str | None,
        searching: Coroutine[Any, Any, Sequence[ScopeMatch]],
    ) -> tuple[list[ScopeMatch], dict[str, Scope], frozenset[str]]:
        """Return the scopes that hold words, best first, all by their ids, and the words they hold.

        `searching` finds those that are stored; they are scored again, together with the others.
        """
        words = self.tokeniser.query(text)
        (counts, worth), matches = await gather_or_cancel(self.unread.count_words(words), searching)
        pointed = self.unread.point(text, counts, worth, groups, self.tokeniser, under)
        parsed = await asyncio.to_thread(self.unread.parse, pointed)
        stored = await self.store.records.get_many(SCOPE, [one.id for one in matches])
        scopes = {scope.uuid: scope for scope in parsed} | dict(stored)
        scored = await asyncio.to_thread(score_scopes, list(scopes.values()), worth, self.tokeniser)
        known = frozenset(words[COUNTED_WORDS:]).union(*counts.values()) if counts else words
        return scored, scopes, frozenset(known)

    async def _compare_files(
        self, embedder: Embedder, asked: Wording, files: Sequence[str], scopes: dict[str, Scope]
    ) -> list[ScopeMatch]:
        """Return how near whole files are to a question; their modules join the scopes."""
        question = asked.text if embedder.multilingual else asked.english
        vector = await embedder.embed_query(question)
        if vector is None:
            return []
        names = await self._list_names(files, scopes.values())
        wholes = [
            name.uuid for inside in names.values() for name in inside if name.type in WHOLE_FILES
        ]
        missing = [uuid for uuid in wholes if uuid not in scopes]
        scopes |= await self.store.records.get_many(SCOPE, missing)
        known = [scopes[uuid] for uuid in wholes if uuid in scopes]
        texts = format_scopes(known, names, embedder.weights.names)
        found = [
            ScopeMatch(name_scope(scope), _compare(vector, other))
            for scope, other in zip(known, await embedder.embed(texts), strict=True)
            if other is not None
        ]
        return sorted(found, key=lambda match: (-match.score, match.id))

    async def _list_names(
        self, files: Sequence[str], scopes: Collection[Scope]
    ) -> dict[str, list[ScopeName]]:
        """Return the names of all scopes in files, of the store or as they were just parsed."""
        names: dict[str, list[ScopeName]] = defaultdict(list)
        stored = [file for file in files if file in self.unread.read]
        if stored:
            where = ScopeFilter(self.unread.project_id, stored)
            for name in await self.store.records.find(SCOPE_NAME, where):
                names[name.file].append(name)
        wanted = set(files).difference(names)
        for scope in scopes:
            if scope.file in wanted:
                names[scope.file].append(name_scope(scope))
        return names


def _compare(one: Vector, other: Vector) -> float:
    """Return the score of two unit vectors, 0..1."""
    cosine = sum(map(float.__mul__, one.values(), other.values()))
    return (1 + cosine) / 2
