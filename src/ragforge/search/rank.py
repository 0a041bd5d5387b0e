"""Rank: order scopes by how useful they are for a question.

Words and vectors find candidates. Their order depends on how well the question fits the name of a
scope, the name of its file and the other candidates in that file, and on whether people usually ask
about such a file. The weights were chosen on 26 repositories in 19 languages; most of them may be
doubled or halved without losing a hundredth.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import chain
from typing import TypeAlias

from ragforge.domain.code import ScopeMatch, ScopeName
from ragforge.domain.vectors import MeaningWeights
from ragforge.ports.words import Tokeniser
from ragforge.search.code_names import find_identifiers
from ragforge.search.wording import WordGroup

NAME = 1.5
EXACT = 3.0
FILE_NAME = 1.0
FILE_NAME_WHOLE = 2.0
PATH = 0.6
COHERENCE = 0.8
USED = 0.1
SECONDARY = 0.6
"""For tests, examples and the like, which people seldom ask about."""
NOT_A_DEFINITION = 0.8
CONSTRUCTOR = 0.9
AGAIN = 0.5
"""How much each further hit in a file counts, compared with the one before."""
_WORTH_COUNTING = 0.15
_REMEMBERED = 1 << 16
_STATIC = MeaningWeights()
_Splitter: TypeAlias = Callable[[str], frozenset[str]]

_TYPES = frozenset(
    ("class", "interface", "struct", "enum", "trait", "type", "object", "namespace", "impl")
)
_PLAIN = frozenset(("module", "chunk"))
_SECONDARY_FOLDER = re.compile(
    r"(^|/)(tests?|testing|specs?|__tests__|testdata|benchmarks?|examples?|samples?|docs?|"
    r"fixtures?|mocks?)(/|$)",
    re.IGNORECASE,
)
_SECONDARY_FILE = re.compile(
    r"(^|/)(test_[^/]*|conftest)\.|[._-](tests?|spec|bench|benchmark)\.[a-z]+$|"
    r"(Test|Tests|Spec|IT)\.(java|kt|scala|cs|swift|php)$"
)
_ASKS_FOR_SECONDARY = re.compile(
    r"\b(tests?|specs?|examples?|samples?|benchmarks?|fixtures?|mocks?|docs?)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the searches found."""

    by_words: Sequence[ScopeMatch] = ()
    by_meaning: Sequence[ScopeMatch] = ()
    files_by_meaning: Sequence[ScopeMatch] = ()  # modules, by the vector of the whole file
    by_name: Sequence[ScopeName] = ()  # named by an identifier in the question
    used: Mapping[str, int] = field(default_factory=dict)  # how many files use each file

    def scopes(self) -> dict[str, ScopeName]:
        """Return all candidates, each once."""
        found = (*self.files_by_meaning, *self.by_words, *self.by_meaning)
        return {scope.uuid: scope for scope in (*(m.scope for m in found), *self.by_name)}

    def files(self) -> list[str]:
        """Return the files of all candidates."""
        return list({scope.file for scope in self.scopes().values()})


@dataclass(frozen=True, slots=True)
class RankedScope:
    """A ranked scope, and the searches that found it."""

    id: str
    score: float  # 0..1, relative to the best
    signals: tuple[str, ...]


@lru_cache(_REMEMBERED)
def is_secondary(path: str) -> bool:
    """Tell whether a file is a test, an example, documentation or the like."""
    return bool(_SECONDARY_FOLDER.search(path) or _SECONDARY_FILE.search(path))


def rank(
    question: str,
    found: Candidates,
    tokeniser: Tokeniser,
    limit: int,
    meaning: MeaningWeights = _STATIC,
    groups: Sequence[WordGroup] = (),
    secondary: Callable[[str], bool] = is_secondary,
) -> list[RankedScope]:
    """Return the best scopes, best first, spread over files.

    `meaning` sets how much vectors count. `groups` are the question's words if some of them mean
    the same; without groups each word counts alone. Files that are `secondary` rank lower,
    unless the question asks for such files.
    """
    names = found.scopes()
    scorer = _Scorer(question, found, tokeniser, meaning, groups, secondary)
    scores = {scope: scorer.score_scope(name) for scope, name in names.items()}
    by_file: dict[str, list[str]] = defaultdict(list)
    for scope, name in names.items():
        by_file[name.file].append(scope)
    best = max(scores.values(), default=0.0)
    if best <= 0:
        return []
    weights = {
        file: math.log1p(sum(scores[s] for s in scopes if scores[s] > _WORTH_COUNTING * best))
        for file, scopes in by_file.items()
    }
    heaviest = max(weights.values()) or 1.0
    placed: list[tuple[float, str]] = []
    for file, scopes in by_file.items():
        scopes.sort(key=lambda scope: (-scores[scope], names[scope].start_line, scope))
        top = scores[scopes[0]]
        total = scorer.score_file(file, top, COHERENCE * weights[file] / heaviest)
        factor = 1.0
        for scope in scopes:
            share = scores[scope] / top if top > 0 else 0.0
            placed.append((total * share * factor, scope))
            factor *= AGAIN
    placed.sort(key=lambda item: (-item[0], item[1]))
    highest = placed[0][0] or 1.0
    return [
        RankedScope(scope, max(score, 0.0) / highest, scorer.list_signals(names[scope]))
        for score, scope in placed[:limit]
    ]


class _Scorer:
    """The scores of one question."""

    def __init__(
        self,
        question: str,
        found: Candidates,
        tokeniser: Tokeniser,
        weights: MeaningWeights,
        groups: Sequence[WordGroup],
        secondary: Callable[[str], bool],
    ) -> None:
        self._weights = weights
        self._used = found.used
        self._is_secondary = secondary
        self._words_of, self._words_along = _make_splitters(tokeniser)
        self._question = frozenset(chain(*groups) if groups else tokeniser.query(question))
        self._groups = groups
        self._exact = {scope.uuid for scope in found.by_name}
        self._wanted = set(find_identifiers(question))
        self._words = _scale_to_best(found.by_words)
        self._meaning = _spread(found.by_meaning)
        modules = _spread(found.files_by_meaning)
        self._files = {match.scope.file: modules[match.id] for match in found.files_by_meaning}
        self._secondary_wanted = bool(_ASKS_FOR_SECONDARY.search(question))
        self._most_used = math.log1p(max(found.used.values(), default=0)) or 1.0

    def score_scope(self, name: ScopeName) -> float:
        plain = name.type in _PLAIN
        own = self._words_of(name.name)
        fit = 0.0
        if not own.isdisjoint(self._question):  # most have no word in common
            shared = own & self._question
            fit = self._measure_share(shared) * math.sqrt(len(shared) / len(own))
        score = self._words.get(name.uuid, 0.0)
        score += NAME * fit * (0.5 if plain else 1.0)
        score += self._weights.scope * self._meaning.get(name.uuid, 0.0)
        builds = _is_constructor(name)
        if name.uuid in self._exact:
            score += EXACT * (
                self._measure_exactness(name) + 0.2 * (name.type in _TYPES) - 0.3 * builds
            )
        return score * (NOT_A_DEFINITION if plain else 1.0) * (CONSTRUCTOR if builds else 1.0)

    def score_file(self, path: str, best: float, coherence: float) -> float:
        name = path.rpartition("/")[2]
        stem = self._words_of(name.rpartition(".")[0] or name)
        shared = stem & self._question
        whole = (len(shared) / len(stem)) ** 2 if stem else 0.0
        score = best + coherence
        score += FILE_NAME * self._measure_share(shared) * (1 + FILE_NAME_WHOLE * whole)
        score += PATH * self._measure_share(self._words_along(path) & self._question)
        score += self._weights.file * self._files.get(path, 0.0)
        score *= 1 + USED * math.log1p(self._used.get(path, 0)) / self._most_used
        return score * (
            SECONDARY if self._is_secondary(path) and not self._secondary_wanted else 1.0
        )

    def list_signals(self, name: ScopeName) -> tuple[str, ...]:
        """Return the searches that found a scope or its file."""
        found = ["name"] if name.uuid in self._exact else []
        if name.uuid in self._words:
            found.append("words")
        if name.uuid in self._meaning:
            found.append("meaning")
        if name.file in self._files:
            found.append("file")
        return tuple(found)

    def _measure_share(self, shared: Collection[str]) -> float:
        """Return the share of the question that these words make up, 0..1."""
        if not shared:
            return 0.0
        if not self._groups:
            return len(shared) / len(self._question)
        return sum(not group.isdisjoint(shared) for group in self._groups) / len(self._groups)

    def _measure_exactness(self, name: ScopeName) -> float:
        """Return 1 if the question gives the qualified name of a scope, .5 if a part of it."""
        for wanted in self._wanted:
            if f".{name.qualified_name}".endswith(f".{wanted}"):
                return 1.0
        return 0.5


@cache
def _make_splitters(tokeniser: Tokeniser) -> tuple[_Splitter, _Splitter]:
    """Return cached functions from a name, and from a path, to its words."""
    of_name = lru_cache(_REMEMBERED)(lambda text: frozenset(tokeniser.document(text).split()))
    of_path = lru_cache(_REMEMBERED)(lambda path: frozenset().union(*map(of_name, path.split("/"))))
    return of_name, of_path


def _is_constructor(name: ScopeName) -> bool:
    outer, dot, own = name.qualified_name.rpartition(".")
    return bool(dot) and outer.rpartition(".")[2] == own


def _scale_to_best(matches: Sequence[ScopeMatch]) -> dict[str, float]:
    best = max((match.score for match in matches), default=0.0)
    return {match.id: match.score / best for match in matches} if best > 0 else {}


def _spread(matches: Sequence[ScopeMatch]) -> dict[str, float]:
    """Scale scores to 0..1, from the worst of them to the best."""
    if not matches:
        return {}
    scores = [match.score for match in matches]
    low, high = min(scores), max(scores)
    width = high - low
    return {m.id: (m.score - low) / width if width > 0 else 1.0 for m in matches}
