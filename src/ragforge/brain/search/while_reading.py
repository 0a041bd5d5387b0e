"""While reading: what may answer a question before all files of a project have been read.

Words find scopes in the store and in the files that it does not know yet; all of them are scored
alike. An instant embedding model compares the files of the best ones with the question.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Coroutine, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragforge.concurrency import gather_or_cancel
from ragforge.domain.code import WHOLE_FILES, CodeFilter, Scope, ScopeFilter, ScopeMatch, ScopeName
from ragforge.domain.schema import SCOPE, SCOPE_NAME
from ragforge.domain.vectors import Vector
from ragforge.errors import ModelError
from ragforge.ports.embedder import Embedder
from ragforge.ports.store import Store
from ragforge.ports.words import COUNTED_WORDS, Tokeniser
from ragforge.records import dataclass
from ragforge.search.question.wording import WordGroup, Wording
from ragforge.search.rank import Candidates
from ragforge.search.scope_words import format_scopes, name_scope, score_scopes

if TYPE_CHECKING:
    from ragforge.brain.search.unread import Unread  # it loads the parsers

BY_WORDS = 150
COMPARED_FILES = 40


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
