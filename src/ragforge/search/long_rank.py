"""Long rank: order scopes by how useful they are for a long question.

The order of a short question depends on the share of its words that a name holds, and on names that
it gives. In the text of an issue such shares vanish, and most of the names are everywhere. So here
the words are those of the subject alone, and names count by how few scopes have them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ragforge.domain.code import ScopeMatch, ScopeName
from ragforge.domain.vectors import MeaningWeights
from ragforge.ports.words import Tokeniser
from ragforge.search.long_question import LongQuestion
from ragforge.search.rank import Candidates, RankedScope, Scorer, order, scale_to_best
from ragforge.search.rank_paths import FOLDERS_OWN, is_secondary
from ragforge.search.wording import WordGroup

TITLE = 0.5
"""What being found by the title alone counts, beside by title and names."""
RARE_NAME = 0.75
"""What a name counts that one scope has; one that ten have counts a tenth."""
IN_TITLE = 1.5
"""How many times that a name in the title counts."""
IN_FRAME, MENTIONED = 1.5, 1.5
"""What a function on the stack counts, and a file whose path is in the text."""
FILE_MEANING = 0.7
"""How much of its weight a file's vector keeps: a long text is about more than one thing."""
SECONDARY = 0.4
"""For tests and examples: an issue that speaks of them does not ask for them."""
OUTER_FRAME = 0.2
"""How much less a call on the stack counts than the one it made."""


def rank_long(
    question: LongQuestion,
    found: Candidates,
    tokeniser: Tokeniser,
    limit: int,
    meaning: MeaningWeights,
    groups: Sequence[WordGroup] = (),
) -> list[RankedScope]:
    """Return the best scopes for a long question, best first."""
    return order(_LongScorer(question, found, tokeniser, meaning, groups), found, limit)


def add_title(
    by_words: Sequence[ScopeMatch], by_title: Sequence[ScopeMatch]
) -> Sequence[ScopeMatch]:
    """Return what a long question's words found, best first, with what its title alone found."""
    scopes = {match.id: match.scope for match in (*by_words, *by_title)}
    words, title = scale_to_best(by_words), scale_to_best(by_title)
    scores = {one: words.get(one, 0.0) + TITLE * title.get(one, 0.0) for one in scopes}
    matches = [ScopeMatch(scopes[one], score) for one, score in scores.items()]
    return sorted(matches, key=lambda match: (-match.score, match.id))


class _LongScorer(Scorer):
    """The scores of one long question."""

    again = 0.9  # the changes that an issue asks for are often in one file

    def __init__(
        self,
        question: LongQuestion,
        found: Candidates,
        tokeniser: Tokeniser,
        weights: MeaningWeights,
        groups: Sequence[WordGroup],
    ) -> None:
        weights = weights._replace(file=FILE_MEANING * weights.file)
        super().__init__(question.subject, found, tokeniser, weights, groups, is_secondary)
        self._frames = question.frames[::-1]
        self._mentioned = [_Mention.read(path) for path in question.paths]
        self._names = {name: IN_TITLE if name in question.title else 1.0 for name in question.names}
        main = (scope for scope in found.by_name if not is_secondary(scope.file))
        self._shared = Counter(end for scope in main for end in _list_ends(scope))

    def weigh_secondary(self, question: str) -> float:
        return SECONDARY

    def score_name(self, name: ScopeName, builds: bool) -> float:
        """Return what a name counts that the question gives: the fewer have it, the more."""
        ends = [end for end in _list_ends(name) if end in self._names]
        rare = max((self._names[end] / max(self._shared[end], 1) for end in ends), default=0.0)
        return RARE_NAME * rare + IN_FRAME * self._find_frame(name.file, name.name)

    def score_path(self, path: str) -> float:
        module = f"/{_cut_ending(path)}"
        mentioned = max((one.measure_fit(module) for one in self._mentioned), default=0.0)
        return super().score_path(path) + MENTIONED * max(mentioned, self._find_frame(path))

    def _find_frame(self, path: str, function: str = "") -> float:
        """Return how near the end of a trace a file is named, 0..1; with one of its functions."""
        for place, frame in enumerate(self._frames):
            named = not function or frame.function.rpartition(".")[2] == function
            if named and f"/{frame.path}".endswith(f"/{path}"):
                return 1 / (1 + OUTER_FRAME * place)
        return 0.0


def _list_ends(scope: ScopeName) -> set[str]:
    """Return the names by which a question may call a scope."""
    return {scope.name, ".".join(scope.qualified_name.split(".")[-2:])}


class _Mention(NamedTuple):
    """A path in a text, or a dotted name."""

    module: str  # without the file's ending, after a slash
    is_file: bool

    @classmethod
    def read(cls, path: str) -> _Mention:
        return cls(f"/{_cut_ending(path)}", "." in path.rpartition("/")[2])

    def measure_fit(self, module: str) -> float:
        """Return how surely a file is meant, 0..1.

        A path may begin above the project or below it, but the name of a file alone is that of
        many. Of a dotted name any beginning may be the module.
        """
        if self.is_file:
            below = self.module.count("/") > 1 and module.endswith(self.module)
            return float(below or self.module.endswith(module))
        beginning, parts = self.module, self.module.count("/")
        while (left := beginning.count("/")) > 1:
            if module.endswith(beginning):
                return left / parts
            beginning = beginning.rpartition("/")[0]
        return 0.0


def _cut_ending(path: str) -> str:
    """Return a path as its module is imported."""
    folder, slash, name = path.rpartition("/")
    stem = name.partition(".")[0] or name
    return folder if stem in FOLDERS_OWN and slash else f"{folder}{slash}{stem}"
