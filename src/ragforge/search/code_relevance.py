"""Code relevance: gather the evidence that a message is about code or documents."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

from ragforge.domain.code import Scope
from ragforge.domain.hits import MIN_RELEVANCE
from ragforge.ports.search_index import Tokeniser
from ragforge.search.question.code_names import find_file_names
from ragforge.search.question.message_kinds import SAYS_NOTHING
from ragforge.search.question.software import ACTION_WORDS, count_software_words
from ragforge.search.question.wording import WordGroup, measure_share, respell
from ragforge.search.rank import Candidates
from ragforge.search.rank_paths import is_secondary
from ragforge.search.relevance import Evidence, estimate
from ragforge.search.words.foreign import MARK

CodeKind: TypeAlias = Literal["code", "documents"]

BEST_HITS = 5
"""How many of the best hits are examined."""
SOURCE_CHARS = 1_500
SMALL = 50
MIN_TOLD = 0.3
"""In a project of fewer scopes even words of its subject are unknown: they count less, at least
this share of the usual."""

_SECONDARY_MEANING, _SECONDARY_WORDS = 0.85, 0.6
"""Tests and examples mention apples and poems in any project."""
_TRADE_SHARE = 3
_ASKS_WHERE = re.compile(
    r"\W*(?:where(?:'s| is| are| does| do we)|où (?:est|sont|se)|wo (?:ist|sind|wird|werden)|"
    r"dónde (?:está|están|se)|dove (?:è|sono|si|viene))\b(?! (?:my|the nearest)\b)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]\w{2,}")
_NAMED_BY_HALF = 0.5
"""The share of a question's words in one name that shows which code is looked for."""


class Asked(NamedTuple):
    """What a message asks about, and which of its words the project holds."""

    text: str
    groups: Sequence[WordGroup]  # words that mean the same: one of a group is enough
    known: Collection[str]

    @classmethod
    def of(cls, text: str, groups: Sequence[WordGroup], tokeniser: Tokeniser) -> Asked:
        """Return a message of which no word is known yet. Without groups each word is one."""
        return cls(text, groups or [frozenset((word,)) for word in tokeniser.query(text)], ())

    def list_words(self) -> list[str]:
        """Return the words to look up in the project."""
        words = frozenset[str]().union(*self.groups)
        return sorted(word for word in words if not word.startswith(MARK))


def list_telling_words(text: str, tokeniser: Tokeniser) -> dict[str, list[str]]:
    """Return the words of a question that tell what it is about, as they are written; each with
    the word of the index, and that of its American spelling.
    """
    searched, empty = set(tokeniser.query(text)), _tokenise_small_talk(tokeniser)
    empty |= frozenset(tokeniser.document(ACTION_WORDS).split())
    found = {}
    for word in _WORD.findall(text):
        spelt = filter(None, (word, respell(word)))
        wholes = [next(iter(tokeniser.query(one)), "") for one in spelt]
        if wholes[0] in searched and wholes[0] not in empty:
            found[word] = wholes
    return found


def gather_evidence(
    asked: Asked,
    found: Candidates,
    best: Sequence[Scope],
    tokeniser: Tokeniser,
    threshold: float,
    secondary: Callable[[str], bool] = is_secondary,
    kind: CodeKind = "code",
) -> Evidence:
    """Return the evidence that a question is about what was found.

    `best` are the first hits; `threshold` is the threshold of the embedding model. Hits in
    `secondary` files count less. Documents contain some words of any message, so words of small
    talk are ignored there.
    """
    empty = _tokenise_small_talk(tokeniser)
    telling = [group for group in asked.groups if not group <= empty]
    groups = (telling or asked.groups) if kind == "documents" else asked.groups
    held = named = 0.0
    for scope in best[:BEST_HITS]:
        weight = _SECONDARY_WORDS if secondary(scope.file) else 1.0
        name = set(tokeniser.document(f"{scope.file} {scope.qualified_name}").split())
        text = f"{scope.signature}\n{scope.docstring}\n{scope.indexed_text[:SOURCE_CHARS]}"
        inside = name.union(tokeniser.document(text).split())
        held = max(held, weight * measure_share(inside, groups))
        named = max(named, weight * measure_share(name, groups))
    trade = count_software_words(asked.text)
    return Evidence(
        meaning=_measure_nearest(found, threshold, secondary),
        held=held,
        named=named,
        exact=float(bool(found.by_name) or _names_file(asked.text, found)),
        trade=min(_TRADE_SHARE * trade.also / max(trade.words, 1), 1.0),
        unknown=_measure_unknown(asked.known, telling, found),
    )


def estimate_relevance(
    asked: Asked,
    found: Candidates,
    best: Sequence[Scope],
    tokeniser: Tokeniser,
    threshold: float,
    secondary: Callable[[str], bool] = is_secondary,
    kind: CodeKind = "code",
) -> float:
    """Return how likely a question is about the code or documents that were found, 0..1.

    A threshold below .5 was not measured, since opposites would count as related; then words
    decide. A question in a script without word lists always passes, as does one for the place of
    something that is half of a name: "Where is the tax added?" has two words, and `total_tax` one.
    """
    by_meaning = bool(found.by_meaning) and threshold >= 0.5
    evidence = gather_evidence(asked, found, best, tokeniser, threshold, secondary, kind)
    likely = estimate(kind, evidence, by_meaning)
    placed = _ASKS_WHERE.match(asked.text) is not None and evidence.named >= _NAMED_BY_HALF
    return max(likely, MIN_RELEVANCE) if placed or _is_foreign(asked.text) else likely


def _measure_unknown(
    known: Collection[str], groups: Sequence[WordGroup], found: Candidates
) -> float:
    """Return the share of the words that a project does not hold, 0..1.

    By meaning something is always found, so a project in which little is found is small.
    """
    if not groups:
        return 0.0
    seen = len({match.id for match in (*found.by_words, *found.by_meaning)})
    told = max(seen / SMALL, MIN_TOLD) if found.by_meaning else 1.0
    return min(told, 1.0) * (1.0 - measure_share(known, groups))


@cache
def _tokenise_small_talk(tokeniser: Tokeniser) -> frozenset[str]:
    return frozenset(tokeniser.document(" ".join(SAYS_NOTHING)).split())


def _measure_nearest(
    found: Candidates, threshold: float, secondary: Callable[[str], bool]
) -> float:
    room = max(1.0 - threshold, 1e-9)
    nearest = 0.0
    for scope, score in found.by_meaning:
        above = (score - threshold) / room
        if above > nearest:  # else its path does not matter
            nearest = max(nearest, above * (_SECONDARY_MEANING if secondary(scope.file) else 1.0))
    return min(nearest, 1.0)


def _names_file(question: str, found: Candidates) -> bool:
    """Tell whether the question contains the name of a file in which something was found."""
    names = find_file_names(question)
    return bool(names) and any(path.rpartition("/")[2] in names for path in found.files())


def _is_foreign(message: str) -> bool:
    """Tell whether most letters of a message are not Latin."""
    if message.isascii():
        return False
    letters = [letter for letter in message if letter.isalpha()]
    beyond = (unicodedata.name(one, "") for one in letters if ord(one) > 0x24F)
    foreign = [name for name in beyond if not name.startswith("LATIN")]
    return 2 * len(foreign) > len(letters)
