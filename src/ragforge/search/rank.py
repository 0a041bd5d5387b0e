"""Rank: order scopes by how useful they are for a question.

Words and vectors find candidates. Their order depends on how well the question fits the name of a
scope, the name of its file and the other candidates in that file, and on whether people usually ask
about such a file. The weights were chosen on 26 repositories in 19 languages; most of them may be
doubled or halved without losing a hundredth.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache, lru_cache
from itertools import chain
from typing import TypeAlias

from ragforge.domain.code import CHUNK, SECTION, ScopeMatch, ScopeName
from ragforge.domain.vectors import MeaningWeights
from ragforge.ports.search_index import Tokeniser
from ragforge.records import dataclass
from ragforge.search.question.code_names import find_identifiers, find_names
from ragforge.search.question.wording import WordGroup, measure_share
from ragforge.search.rank_paths import (
    find_kind,
    find_own_name,
    is_for_windows,
    is_header,
    is_internal,
    is_outdated,
    is_part,
    is_secondary,
    is_types_only,
)

NAME = 1.5
EXACT = 3.0
FILE_NAME = 1.0
FILE_NAME_WHOLE = 2.0
PATH = 0.6
COHERENCE = 0.7
USED = 0.1
COVER = 0.5
"""For the words of the question that the names in a file hold together."""
LENGTH = 0.05
"""For a file that is e times as long as `USUAL_LINES`: much that is asked about is in it."""
USUAL_LINES = 200
LONG_NAME = 0.05
"""Less for each word that a file's name has beyond two: it is about something special."""
SECONDARY = 0.6
"""For tests, examples and the like, which people seldom ask about."""
NOT_A_DEFINITION = 0.8
CONSTRUCTOR = 0.7
DECLARATION = 0.5
"""For a function in a header whose body is in another file."""
HOLDING = 1.5
"""How much words count if a question is about a name that no scope has, as of a field or a setting:
they find the code that holds it."""
SHORT, SHORT_LINES = 0.85, 4
"""For a constant, a getter or a declaration: a question is rarely about one, unless it names it."""
EXTENSION = 0.8
"""For an `impl` or extension, compared with the type that it adds to."""
OUTDATED, INTERNAL, TYPES_ONLY, PART, FOR_WINDOWS = 0.8, 0.8, 0.8, 0.9, 0.8
"""For files that people ask about less than about others with the same words."""
AGAIN = 0.3
"""How much each further hit in a file counts, compared with the one before."""
OWN = 0.15
"""How much it counts how well a scope itself fits, next to its file: otherwise the first hit of the
best file comes first, though it may only share words with the question."""
SIBLINGS = 3
SIBLING = 0.8
"""From the fourth of a folder's files of one kind on, each counts this much of the one before."""
_WORTH_COUNTING = 0.15
_REMEMBERED = 1 << 16
_STATIC = MeaningWeights()
_Splitter: TypeAlias = Callable[[str], frozenset[str]]

_TYPES = frozenset(("class", "interface", "struct", "enum", "trait", "type", "object", "impl"))
_PLAIN = frozenset(("module", "chunk", "namespace"))
_TEST_MODULES = ("tests.", "test.")
"""How the names of tests begin that are in the file they test, as in Rust."""
_ASKS_FOR_SECONDARY = re.compile(
    r"\b(tests?|specs?|examples?|samples?|benchmarks?|fixtures?|mocks?|docs?)\b", re.IGNORECASE
)
_VERSION = re.compile(r"\b\d+(?:\.\d+)+\b")
_ASKS_FOR_WINDOWS = re.compile(r"\bwin(dows|32|64)?\b", re.IGNORECASE)


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


def asks_for_secondary(question: str) -> bool:
    """Tell whether a question is for tests, examples or the like."""
    return _ASKS_FOR_SECONDARY.search(question) is not None


def rank(
    question: str,
    found: Candidates,
    tokeniser: Tokeniser,
    limit: int,
    meaning: MeaningWeights = _STATIC,
    groups: Sequence[WordGroup] = (),
    secondary: Callable[[str], bool] = is_secondary,
    own: float = OWN,
) -> list[RankedScope]:
    """Return the best scopes, best first, spread over files.

    `meaning` sets how much vectors count. `groups` are the question's words if some of them mean
    the same; without groups each word counts by itself. Files that are `secondary` rank lower,
    unless the question asks for such files.
    """
    scorer = Scorer(question, found, tokeniser, meaning, groups, secondary)
    return order(scorer, found, limit, own)


def order(scorer: Scorer, found: Candidates, limit: int, own: float = 0.0) -> list[RankedScope]:
    """Return the scopes with the best scores, best first.

    A scope counts as much as its file, but for the share `own`, for which it counts by itself.
    """
    names = found.scopes()
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
    totals: dict[str, float] = {}
    for file, scopes in by_file.items():
        scopes.sort(key=lambda scope: (-scores[scope], names[scope].start_line, scope))
        top = scores[scopes[0]]
        inside = [names[scope] for scope in scopes]
        totals[file] = scorer.score_file(file, inside, top, COHERENCE * weights[file] / heaviest)
    placed: list[tuple[float, str]] = []
    for file, weight in _weigh_siblings(totals):
        top, rest = scores[by_file[file][0]], weight * totals[file]
        for scope in by_file[file]:
            share = scores[scope] / top if top > 0 else 0.0
            placed.append((rest * share * (1 - own + own * scores[scope] / best), scope))
            rest *= scorer.again
    placed.sort(key=lambda item: (-item[0], item[1]))
    highest = placed[0][0] or 1.0
    return [
        RankedScope(scope, max(score, 0.0) / highest, scorer.list_signals(names[scope]))
        for score, scope in placed[:limit]
    ]


def _weigh_siblings(totals: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Yield files, best first, with how much each counts after better ones of its kind."""
    before: Counter[str] = Counter()
    for file in sorted(totals, key=lambda file: (-totals[file], file)):
        kind = find_kind(file)
        yield file, 1.0 if kind is None else SIBLING ** max(before[kind] - SIBLINGS + 1, 0)
        if kind is not None:
            before[kind] += 1


class Scorer:
    """The scores of one question."""

    again = AGAIN

    def __init__(
        self,
        question: str,
        found: Candidates,
        tokeniser: Tokeniser,
        weights: MeaningWeights,
        groups: Sequence[WordGroup],
        secondary: Callable[[str], bool],
    ) -> None:
        self.question = question
        self._weights = weights
        self._used = found.used
        self._is_secondary = secondary
        self._words_of, self._words_along = _make_splitters(tokeniser)
        self._versions = _VERSION.findall(question)
        self._asked = frozenset(chain(*groups) if groups else tokeniser.query(question))
        self._groups = groups
        self._exact = {scope.uuid for scope in found.by_name}
        self._wanted = set(find_identifiers(question))
        holding = 1.0 if self._exact or not self._is_about_name(question) else HOLDING
        self._words = {
            scope: holding * score for scope, score in scale_to_best(found.by_words).items()
        }
        self._meaning = _spread(found.by_meaning)
        modules = _spread(found.files_by_meaning)
        self._files = {match.scope.file: modules[match.id] for match in found.files_by_meaning}
        self._secondary = self.weigh_secondary(question)
        self._windows = 1.0 if _ASKS_FOR_WINDOWS.search(question) else FOR_WINDOWS
        self._max_used = math.log1p(max(found.used.values(), default=0)) or 1.0

    def score_scope(self, name: ScopeName) -> float:
        plain = name.type in _PLAIN
        own = self._words_of(name.name)
        fit = 0.0
        if not own.isdisjoint(self._asked):  # most have no word in common
            shared = own & self._asked
            fit = self._measure_share(shared) * math.sqrt(len(shared) / len(own))
        score = self._words.get(name.uuid, 0.0)
        score += NAME * fit * (0.5 if plain else 1.0)
        score += self._weights.scope * self._meaning.get(name.uuid, 0.0)
        if self._versions and any(version in name.name for version in self._versions):
            score += EXACT
        builds = _is_constructor(name)
        if name.uuid in self._exact:
            score += self.score_name(name, builds)
        if name.qualified_name.startswith(_TEST_MODULES) and name.file.endswith(".rs"):
            score *= self._secondary
        if name.signature.endswith(";") and is_header(name.file):
            score *= DECLARATION
        elif name.type == "impl":
            score *= EXTENSION
        elif name.uuid not in self._exact and _is_short(name):
            score *= SHORT
        return score * (NOT_A_DEFINITION if plain else 1.0) * (CONSTRUCTOR if builds else 1.0)

    def score_file(
        self, path: str, inside: Sequence[ScopeName], best: float, coherence: float
    ) -> float:
        stem = self._words_of(find_own_name(path))
        shared = stem & self._asked
        whole = (len(shared) / len(stem)) ** 2 if stem else 0.0
        score = best + coherence
        score += FILE_NAME * self._measure_share(shared) * (1 + FILE_NAME_WHOLE * whole)
        score += self.score_path(path)
        score += self._weights.file * self._files.get(path, 0.0)
        score += COVER * self._measure_share(self._list_covered(inside))
        score *= _weigh_length(inside) * _weigh_name(stem)
        score *= 1 + USED * math.log1p(self._used.get(path, 0)) / self._max_used
        return score * self._weigh_path(path)

    def _list_covered(self, inside: Sequence[ScopeName]) -> set[str]:
        """Return the words of the question that are in names of a file's candidates."""
        names = map(self._words_of, {scope.name for scope in inside})
        fitting = (own for own in names if not own.isdisjoint(self._asked))
        return set(chain(*fitting)) & self._asked

    def _weigh_path(self, path: str) -> float:
        """Return how much a file counts by its path, 0..1."""
        weight = self._secondary if self._is_secondary(path) else 1.0
        weight *= OUTDATED if is_outdated(path) else 1.0
        weight *= INTERNAL if is_internal(path) else 1.0
        weight *= TYPES_ONLY if is_types_only(path) else 1.0
        weight *= PART if is_part(path) else 1.0
        return weight * (self._windows if is_for_windows(path) else 1.0)

    def weigh_secondary(self, question: str) -> float:
        """Return how much tests, examples and the like count: all of it if they are wanted."""
        return 1.0 if asks_for_secondary(question) else SECONDARY

    def score_name(self, name: ScopeName, builds: bool) -> float:
        """Return what a name counts that the question gives."""
        return EXACT * (self._measure_exactness(name) + 0.2 * (name.type in _TYPES) - 0.3 * builds)

    def score_path(self, path: str) -> float:
        """Return what the words along a path count."""
        return PATH * self._measure_share(self._words_along(path) & self._asked)

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
            return len(shared) / len(self._asked)
        return measure_share(shared, self._groups)

    def _is_about_name(self, question: str) -> bool:
        """Tell whether most words of a question are those of a name."""
        named = self._words_of(" ".join(find_names(question)))
        return self._measure_share(named & self._asked) > 0.5

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


def _is_short(name: ScopeName) -> bool:
    """Tell whether a scope is hardly more than a name; a part of a document is not."""
    is_code = name.type not in (SECTION, CHUNK)
    return is_code and name.end_line - name.start_line < SHORT_LINES


def _is_constructor(name: ScopeName) -> bool:
    outer, dot, own = name.qualified_name.rpartition(".")
    return bool(dot) and outer.rpartition(".")[2] == own


def _weigh_length(inside: Sequence[ScopeName]) -> float:
    """Return how much a file counts by its length, as far as its candidates show that."""
    longer = math.log(max(1, *(scope.end_line for scope in inside)) / USUAL_LINES)
    return 1 + LENGTH * min(max(longer, -2.0), 3.0)


def _weigh_name(stem: Collection[str]) -> float:
    """Return how much a file counts by the number of words in its name."""
    return max(1 - LONG_NAME * (len(stem) - 2), 0.5)


def scale_to_best(matches: Sequence[ScopeMatch]) -> dict[str, float]:
    """Scale scores so that the best is 1."""
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
