"""Code search: the scopes that are relevant to a question, by name, words and meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from ragforge.domain.code import (
    CHUNK,
    MODULE,
    CodeFilter,
    Direction,
    RelationKind,
    Scope,
    ScopeMatch,
    ScopeName,
)
from ragforge.domain.hits import NOTHING_RELEVANT, RelevantHits
from ragforge.domain.vectors import MeaningWeights
from ragforge.errors import ModelError
from ragforge.ports.code import CodeStore
from ragforge.ports.embedder import Embedder
from ragforge.ports.words import Tokeniser
from ragforge.search.code_names import find_identifiers
from ragforge.search.rank import Candidates, rank
from ragforge.search.relevance import (
    BEST_HITS,
    MIN_HIT_RELEVANCE,
    MIN_RELEVANCE,
    estimate_relevance,
)
from ragforge.search.translate import translate
from ragforge.search.wording import Wording

BY_WORDS = 150
BY_MEANING = 60
WHOLE_FILES = (MODULE, CHUNK)
MAX_IDENTIFIERS = 5
COUNTED = 200
"""Scopes are counted up to this many: a word in so many is certainly used."""
SAME_NAME = 50
"""Of scopes with the same name, no more than these are candidates."""


@dataclass(frozen=True, slots=True)
class CodeHit:
    """A scope that was found, how well it fits and which signals found it."""

    scope: Scope
    score: float  # 0..1, relative to the best
    signals: tuple[str, ...]
    relevance: float = 0.0  # 0..1, comparable between projects: how likely the question means it


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A scope next to another one in the graph."""

    scope: Scope
    relation: RelationKind
    direction: Direction


@dataclass(frozen=True, slots=True)
class CodeFinder:
    """Searches the code of projects in one store."""

    code: CodeStore
    embedder: Embedder | None
    tokeniser: Tokeniser

    async def search(
        self, question: str, project_id: str, under: str | None = None, limit: int = 10
    ) -> list[CodeHit]:
        """Return the scopes that are relevant to a question, best first, spread over files.

        If the embedder fails, names and words still count.
        """
        where = CodeFilter(project_id=project_id, under=under)
        asked = await self._translate_question(question, project_id)
        words, (files, scopes_in_them), called = await asyncio.gather(
            self.code.by_words(asked.text, where, BY_WORDS),
            self._search_by_meaning(question, asked.english, where),
            self._search_by_name(question, project_id, under),
        )
        found = Candidates(words, scopes_in_them, files, called)
        used = await self.code.importers(project_id, found.files())
        found = replace(found, used=used)
        weights = MeaningWeights() if self.embedder is None else self.embedder.weights
        ranked = rank(question, found, self.tokeniser, limit, weights, asked.groups)
        scopes = await self.code.scopes([place.id for place in ranked])
        ranked = [place for place in ranked if place.id in scopes]  # some may have been replaced
        best = [scopes[place.id] for place in ranked[:BEST_HITS]]
        least = 0.0 if self.embedder is None else self.embedder.code_threshold
        likely = estimate_relevance(question, found, best, self.tokeniser, least, asked.english)
        return [
            CodeHit(scopes[place.id], place.score, place.signals, likely * place.score)
            for place in ranked
        ]

    async def find_neighbours(self, scope_id: str) -> list[Neighbour]:
        """Return what a scope uses, what uses it, what it inherits and what holds it."""
        kinds: list[RelationKind] = ["CONSUMES", "INHERITS_FROM", "HAS_PARENT"]
        found: list[tuple[str, RelationKind, Direction]] = []
        sides: tuple[Direction, ...] = ("out", "in")
        for side in sides:
            for relation in await self.code.relations(scope_id, side, kinds):
                other = relation.target if side == "out" else relation.source
                found.append((other, relation.kind, side))
        scopes = await self.code.scopes([other for other, _, _ in found])
        return [
            Neighbour(scopes[other], kind, side) for other, kind, side in found if other in scopes
        ]

    async def _translate_question(self, question: str, project_id: str) -> Wording:
        """Return the words to search for: in English if the code is in English."""
        asked = translate(question)
        if asked is None:
            return Wording(question, question)
        held = await self.code.count_holding(project_id, asked.list_words_to_count(), COUNTED)
        return asked.build_code_wording(held, self.tokeniser)

    async def _search_by_meaning(
        self, question: str, english: str, where: CodeFilter
    ) -> tuple[Sequence[ScopeMatch], Sequence[ScopeMatch]]:
        """Return the nearest files, and the nearest scopes in them.

        Files first: it finds as much, and compares a tenth of the vectors.
        """
        vector = None
        if self.embedder is not None:
            with suppress(ModelError):
                asked = question if self.embedder.multilingual else english
                vector = await self.embedder.embed_query(asked)
        if vector is None:
            return (), ()
        wholes = replace(where, types=WHOLE_FILES)
        files = await self.code.by_vector(vector, wholes, BY_MEANING)
        if not files:
            return (), ()
        inside = replace(where, files=tuple({match.scope.file for match in files}))
        return files, await self.code.by_vector(vector, inside, BY_MEANING)

    async def _search_by_name(
        self, question: str, project_id: str, under: str | None
    ) -> Sequence[ScopeName]:
        """Return the scopes whose identifiers are in the question."""
        wanted = {name.rpartition(".")[2] for name in find_identifiers(question)[:MAX_IDENTIFIERS]}
        found: list[ScopeName] = []
        for name in sorted(wanted):
            called = await self.code.scopes_named(project_id, name)
            inside = [scope for scope in called if _is_under(scope.file, under)]
            found += inside[:SAME_NAME]
        return found


def keep_relevant(hits: Sequence[CodeHit], least: float = MIN_RELEVANCE) -> RelevantHits[CodeHit]:
    """Return the hits that are relevant; none if even the best is not."""
    if not hits or hits[0].relevance < least:
        return RelevantHits(reason=NOTHING_RELEVANT)
    return RelevantHits(tuple(hit for hit in hits if hit.relevance >= MIN_HIT_RELEVANCE))


def keep_within(hits: Sequence[CodeHit], max_chars: int | None) -> list[CodeHit]:
    """Return the hits that together fit into a number of characters; none is cut."""
    if max_chars is None:
        return list(hits)
    kept: list[CodeHit] = []
    for hit in hits:
        if len(hit.scope.source) <= max_chars:
            max_chars -= len(hit.scope.source)
            kept.append(hit)
    return kept


def _is_under(path: str, directory: str | None) -> bool:
    place = (directory or "").strip("/")
    return not place or path == place or path.startswith(f"{place}/")
