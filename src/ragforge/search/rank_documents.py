"""Rank documents: order parts of documents and configuration files for a question.

They are ranked as code is, but a file that the question names comes first: whoever writes
`CLAUDE.md`, ".gitignore" or "the changelog" means that file, whatever else the question says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from ragforge.domain.code import ScopeName
from ragforge.domain.vectors import MeaningWeights
from ragforge.ports.words import Tokeniser
from ragforge.search.rank import Candidates, RankedScope, Scorer, order
from ragforge.search.rank_paths import find_own_name
from ragforge.search.wording import WordGroup

NAMED = 4.0
"""What a file counts whose path is in the question, or its name with the ending."""
CALLED = 0.5
"""What a file counts whose name without the ending is in the question: "the changelog"."""
DEPTH = 0.02
"""Less for each folder that a file is in: of files with the same name the outermost is meant."""
MAX_NAMES = 40
_FILE = re.compile(r"(?<![\w/.@])@?((?:[\w.@+~-]+/)*[\w.@+-]*\.[A-Za-z]\w{0,19})(?![\w/])")


def find_named_files(question: str) -> list[str]:
    """Return what in a question may be the path or name of a file: `@docs/api.md`, .gitignore.

    Others may be among them, such as `self.name`: looking for one that does not exist costs little.
    """
    found = (hit[1].removeprefix("./") for hit in _FILE.finditer(question))
    return list(dict.fromkeys(found))[:MAX_NAMES]


def is_named(path: str, names: Collection[str]) -> bool:
    """Tell whether one of these names is the end of a path, or the path is the end of a name."""
    return any(f"/{path}".endswith(f"/{name}") or name.endswith(f"/{path}") for name in names)


def rank_documents(
    question: str,
    found: Candidates,
    tokeniser: Tokeniser,
    limit: int,
    meaning: MeaningWeights,
    groups: Sequence[WordGroup],
    secondary: Callable[[str], bool],
) -> list[RankedScope]:
    """Return the best parts of documents and configuration files, best first.

    The arguments are those of `rank.rank`.
    """
    scorer = _DocumentScorer(question, found, tokeniser, meaning, groups, secondary)
    return order(scorer, found, limit)


class _DocumentScorer(Scorer):
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
        super().__init__(question, found, tokeniser, weights, groups, secondary)
        self._names = find_named_files(question)

    def score_file(
        self, path: str, inside: Sequence[ScopeName], best: float, coherence: float
    ) -> float:
        score = super().score_file(path, inside, best, coherence)
        if is_named(path, self._names):
            score += NAMED
        elif (stem := self._words_of(find_own_name(path))) and stem <= self._question:
            score += CALLED
        return score * (1 - DEPTH * min(path.count("/"), 5))

    def list_signals(self, name: ScopeName) -> tuple[str, ...]:
        signals = super().list_signals(name)
        return ("name", *signals) if is_named(name.file, self._names) else signals
