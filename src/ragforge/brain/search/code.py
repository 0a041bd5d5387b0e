"""Code search: the scopes that are relevant to a question, by name, words and meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from ragforge.brain.languages.language import is_under
from ragforge.brain.search.unread import SearchWhileReading
from ragforge.domain.code import (
    MODULE,
    WHOLE_FILES,
    CodeFilter,
    Direction,
    RelationFilter,
    RelationKind,
    Scope,
    ScopeFilter,
    ScopeMatches,
    ScopeName,
    group_by_name,
)
from ragforge.domain.hits import (
    MIN_HIT_RELEVANCE,
    MIN_RELEVANCE,
    NOTHING_RELEVANT,
    RelevantHits,
)
from ragforge.domain.schema import SCOPE, SCOPE_NAME
from ragforge.domain.vectors import MeaningWeights, Vector
from ragforge.errors import ModelError
from ragforge.ports.code_graph import CodeGraph
from ragforge.ports.models import Embedder
from ragforge.ports.search_index import Tokeniser
from ragforge.ports.store import Store
from ragforge.records import dataclass
from ragforge.search.code_relevance import (
    BEST_HITS,
    Asked,
    estimate_relevance,
    list_telling_words,
)
from ragforge.search.long_question import LongQuestion, LongScorer, add_title
from ragforge.search.question.code_names import find_identifiers
from ragforge.search.question.wording import (
    WordGroup,
    Wording,
    add_spellings,
    expand_query,
    translate,
)
from ragforge.search.rank import Candidates, RankedScope, order, rank
from ragforge.search.words.tokenise import WORDS

if TYPE_CHECKING:
    from ragforge.brain.search.unread import Unread

BY_WORDS = 150
BY_MEANING = 60
MAX_IDENTIFIERS = 5
COUNTED = 200
"""Scopes are counted up to this number: a word that is in that many is certainly used."""
SAME_NAME = 50
"""Of scopes with the same name, no more than these are candidates."""

_MIN_STEM_CHARS = 3
_DOUBLED = frozenset("bdgmnpt")
_OTHER_THINGS = frozenset(["fold", "form", "head", "lay", "let", "low", "tow", "use"])
"""A folder folds nothing, and a user is not what is used."""


@dataclass(frozen=True, slots=True)
class CodeHit:
    """A scope that was found, how well it fits and which signals found it."""

    scope: Scope
    score: float  # 0..1, relative to the best
    signals: tuple[str, ...]
    relevance: float = 0.0  # 0..1, comparable between projects: how likely the question means it
    fetched_at: datetime | None = None  # of a web page


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A scope next to another one in the graph."""

    scope: Scope
    relation: RelationKind
    direction: Direction


@dataclass(frozen=True, slots=True)
class CodeFinder:
    """Searches the code of projects in one store."""

    store: Store
    embedder: Embedder | None
    tokeniser: Tokeniser

    @property
    def code(self) -> CodeGraph:
        return self.store.code

    @property
    def weights(self) -> MeaningWeights:
        """How much the vectors of the embedding model count."""
        return MeaningWeights() if self.embedder is None else self.embedder.weights

    @property
    def threshold(self) -> float:
        """The score from which the embedding model calls code relevant."""
        return 0.0 if self.embedder is None else self.embedder.code_threshold

    async def load(
        self, ranked: Sequence[RankedScope], known: Mapping[str, Scope]
    ) -> tuple[list[RankedScope], dict[str, Scope]]:
        """Return the ranked scopes that still exist, and all scopes by id; some may be `known`."""
        missing = [one.id for one in ranked if one.id not in known]
        scopes = {**known, **await self.store.records.get_many(SCOPE, missing)}
        return [one for one in ranked if one.id in scopes], scopes

    async def search(
        self,
        question: str,
        project_id: str,
        under: str | None = None,
        limit: int = 10,
        unread: Unread | None = None,
    ) -> list[CodeHit]:
        """Return the scopes that are relevant to a question, best first, spread over files.

        If the embedder fails, names and words still count. What is `unread` is searched by words.
        """
        where = CodeFilter(project_id=project_id, under=under)
        long = LongQuestion.parse(question)
        subject = question if long is None else long.subject
        scopes: dict[str, Scope] = {}
        if unread is None:
            asked = await self._translate_question(subject, project_id)
            found, message = await asyncio.gather(
                self._find_candidates(question, long, asked, where),
                self.look_up_words(subject, asked.groups, project_id),
            )
        else:
            asked = expand_query(subject, self.tokeniser)
            groups = asked.groups or group_with_doers(self.tokeniser.query(subject))
            names = _list_names(question, long)
            searching = SearchWhileReading(self.store, self.embedder, self.tokeniser, unread)
            called = await self._search_by_name(names, project_id, under)
            found, scopes, known = await searching.find(asked, groups, names, where)
            found = replace(found, by_name=[*found.by_name, *called])
            message = Asked.of(subject, asked.groups, self.tokeniser)._replace(known=known)
        if long is None:
            groups = asked.groups or group_with_doers(self.tokeniser.query(question))
            ranked = rank(question, found, self.tokeniser, limit, self.weights, groups)
        else:
            scorer = LongScorer(long, found, self.tokeniser, self.weights, asked.groups)
            ranked = order(scorer, found, limit)
        ranked, scopes = await self.load(ranked, scopes)
        shown = {place.id: scopes[place.id] for place in ranked}
        ranked = _leave_out_doubles(ranked, shown)
        best = [scopes[place.id] for place in ranked[:BEST_HITS]]
        likely = estimate_relevance(message, found, best, self.tokeniser, self.threshold)
        return [
            CodeHit(scopes[place.id], place.score, place.signals, likely * place.score)
            for place in ranked
        ]

    async def find_inner(
        self, project_id: str, scopes: Iterable[Scope]
    ) -> Mapping[str, Sequence[ScopeName]]:
        """Return the scopes in the files of those that have others inside, by file."""
        files = sorted({scope.file for scope in scopes if scope.search_text is not None})
        found: dict[str, list[ScopeName]] = {file: [] for file in files}
        if files:
            where = ScopeFilter(project_id, files)
            for name in await self.store.records.find(SCOPE_NAME, where):
                found[name.file].append(name)
        return found

    async def find_module(self, project_id: str, file: str) -> Scope | None:
        """Return the scope of a whole file of code, or None for a document."""
        names = await self.store.records.find(SCOPE_NAME, ScopeFilter(project_id, [file]))
        modules = [name.uuid for name in names if name.type == MODULE]
        found = await self.store.records.get_many(SCOPE, modules[:1])
        return found.get(modules[0]) if modules else None

    async def _find_candidates(
        self, question: str, long: LongQuestion | None, asked: Wording, where: CodeFilter
    ) -> Candidates:
        """Return what may answer a question, in a project of which all files have been read."""
        text = question if long is None else long.head
        project_id = where.project_id or ""
        vector = await self.embed(text, asked.english if asked.groups else text)
        wholes = replace(where, types=WHOLE_FILES)
        matches, called, titled = await asyncio.gather(
            # Files first: it finds as much, and compares a tenth of the vectors.
            self.code.search(
                asked.text, vector, where, BY_WORDS, wholes, BY_MEANING, inside=BY_MEANING
            ),
            self._search_by_name(_list_names(question, long), project_id, where.under),
            self._search_by_title(long, where),
        )
        words, files, used, scopes_in_them = matches
        used = {**used, **titled.importers}
        used_too = await self._count_importers(project_id, (matches, titled), called)
        words = add_title(words, titled.by_words) if titled.by_words else words
        return Candidates(words, scopes_in_them, files, called, {**used, **used_too})

    async def find_neighbours(self, scope_id: str) -> list[Neighbour]:
        """Return what a scope uses, what uses it, what it inherits and what holds it."""
        kinds: list[RelationKind] = ["CONSUMES", "INHERITS_FROM", "HAS_PARENT"]
        near = await self.code.relations(RelationFilter([scope_id], kinds=kinds))
        found: list[tuple[str, RelationKind, Direction]]
        found = [(one.target, one.kind, "out") for one in near if one.source == scope_id]
        found += [(one.source, one.kind, "in") for one in near if one.target == scope_id]
        scopes = await self.store.records.get_many(SCOPE, [other for other, _, _ in found])
        return [
            Neighbour(scopes[other], kind, side) for other, kind, side in found if other in scopes
        ]

    async def look_up_words(
        self, message: str, groups: Sequence[WordGroup], project_id: str, documents: bool = False
    ) -> Asked:
        """Return a message, with those of its words that a project's code holds.

        With `documents` they may be in those as well.
        """
        asked = Asked.of(message, groups, self.tokeniser)
        words = {word: (word,) for word in asked.list_words()}
        held = await self.code.count_holding(project_id, words, 1, documents)
        return asked._replace(known=frozenset(word for word, count in held.items() if count))

    async def find_unknown_words(self, question: str, project_id: str) -> list[str]:
        """Return the telling words of a question that neither code nor documents hold.

        None of a question that is not in English: its words are searched for in English too.
        """
        if translate(question) is not None:
            return []
        words = list_telling_words(question, self.tokeniser)
        held = await self.code.count_holding(project_id, words, 1, documents=True)
        return [word for word, count in held.items() if not count]

    async def _translate_question(self, question: str, project_id: str) -> Wording:
        """Return the words to search for: in English if the code is in English."""
        asked = translate(question)
        if asked is None:
            return add_spellings(question, self.tokeniser)
        words = {word: self.tokeniser.query(word) for word in asked.list_words_to_count()}
        held = await self.code.count_holding(project_id, words, COUNTED)
        return asked.build_code_wording(held, self.tokeniser)

    async def embed(self, question: str, english: str) -> Vector | None:
        """Return the vector of a question, or None if there is no model or it fails."""
        if self.embedder is not None:
            with suppress(ModelError):
                asked = self._choose_wording(self.embedder, question, english)
                return await self.embedder.embed_query(asked)
        return None

    def _choose_wording(self, embedder: Embedder, question: str, english: str) -> str:
        """Return what a model is asked: in a language that it knows less, also in English."""
        if english == question or not embedder.multilingual:
            return english
        fluent = embedder.weights.fluent
        is_fluent = fluent is None or WORDS.detect_language(question) in fluent
        return question if is_fluent else f"{question}\n{english}"

    async def _count_importers(
        self, project_id: str, found: Iterable[ScopeMatches], called: Sequence[ScopeName]
    ) -> Mapping[str, int]:
        """Return how many files import those that were found only by a name."""
        counted = {m.scope.file for some in found for m in (*some.by_words, *some.by_vector)}
        others = list({scope.file for scope in called} - counted)
        return await self.code.importers(project_id, others) if others else {}

    async def _search_by_title(self, long: LongQuestion | None, where: CodeFilter) -> ScopeMatches:
        """Return the scopes that hold words of a long question's title."""
        if long is None:
            return ScopeMatches()
        return await self.code.search(long.title, None, where, BY_WORDS)

    async def _search_by_name(
        self, names: Collection[str], project_id: str, under: str | None
    ) -> Sequence[ScopeName]:
        """Return the scopes with these names."""
        if not names:
            return []
        named = group_by_name(
            await self.store.records.find(SCOPE_NAME, ScopeFilter(project_id, names=names)), names
        )
        found: dict[str, ScopeName] = {}
        for _, scopes in sorted(named.items()):
            inside = [scope for scope in scopes if is_under(scope.file, under)]
            found |= {scope.uuid: scope for scope in inside[:SAME_NAME]}
        return list(found.values())


def _list_names(question: str, long: LongQuestion | None) -> Collection[str]:
    """Return the names in a question that are looked up."""
    if long is not None:
        return long.names
    return {name.rpartition(".")[2] for name in find_identifiers(question)[:MAX_IDENTIFIERS]}


def _leave_out_doubles(
    ranked: Sequence[RankedScope], scopes: Mapping[str, Scope]
) -> list[RankedScope]:
    """Leave out a file that is nothing but one scope, if that is found too: it is the same code."""
    inner = {_find_lines(one) for one in scopes.values() if one.type not in WHOLE_FILES}
    return [
        place
        for place in ranked
        if scopes[place.id].type not in WHOLE_FILES or _find_lines(scopes[place.id]) not in inner
    ]


def _find_lines(scope: Scope) -> tuple[str, int, int]:
    return scope.file, scope.start_line, scope.end_line


def keep_relevant(hits: Sequence[CodeHit]) -> RelevantHits[CodeHit]:
    """Return the hits that are relevant; none if even the best is not."""
    if not hits or hits[0].relevance < MIN_RELEVANCE:
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


def group_with_doers(words: Iterable[str]) -> tuple[WordGroup, ...]:
    """Return each stem of a question, with the stems of what does it."""
    return tuple(frozenset((word, *_name_doers(word))) for word in words)


def _name_doers(stem: str) -> list[str]:
    if (
        len(stem) < _MIN_STEM_CHARS
        or not (stem.isascii() and stem.isalpha())
        or stem in _OTHER_THINGS
    ):
        return []
    if stem.endswith("e"):
        return [f"{stem}r"]
    doubled = stem + stem[-1]  # `logger`; a stemmer leaves `formatt` of a longer one
    return [f"{stem}er", *((f"{doubled}er", doubled) if stem[-1] in _DOUBLED else ())]
