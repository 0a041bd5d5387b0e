"""Fuzzy: how similar words are, and lines to a query of several words.

Words are compared by edits, a swap of neighbours counting as one, in any case and whatever
their style: `user_name`, `userName` and `username` are the same. A word that holds the whole
of a longer one asked for is like it, too, but less than one with a slip in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from rapidfuzz import process
from rapidfuzz.distance import OSA

from ragforge.records import dataclass

WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W_A-Za-z0-9]+")
LONGEST_WORD = 100
MAX_WORDS = 12
SHORT = 2
"""Words of this length or less say nothing in a longer query."""
JOINED = 3
"""Up to this many words may be written as one."""
HELD_FROM = 4
HELD, MAX_HELD = 0.75, 0.85
"""The similarity of a word that contains a whole one of at least this many letters."""


@dataclass(frozen=True, slots=True)
class FuzzyQuery:
    """The words that are asked for and how much each counts; `joined` is all of them as one."""

    words: tuple[str, ...]
    weights: tuple[float, ...]
    joined: str | None

    @property
    def targets(self) -> tuple[str, ...]:
        """All that single words of a file are compared with."""
        return (*self.words, self.joined) if self.joined else self.words


def read_query(text: str) -> FuzzyQuery:
    """Split a query into its words."""
    parts = [part for word in WORD.findall(text) for part in split_identifier(word)]
    long_parts = list(dict.fromkeys(part for part in parts if len(part) > SHORT)) or parts
    words = tuple(sorted(long_parts, key=len, reverse=True)[:MAX_WORDS])
    whole = sum(map(len, words)) or 1
    joined = "".join(parts) if 1 < len(parts) <= JOINED else None
    return FuzzyQuery(words, tuple(len(word) / whole for word in words), joined)


def split_identifier(word: str) -> tuple[str, ...]:
    """Return the parts of an identifier, in lower case."""
    if word.islower() and word.isalpha():
        return (word,)
    return tuple([part.casefold() for part in _PART.findall(word)])


def cut_fragments(word: str, threshold: float) -> list[str]:
    """Cut a word into pieces of which every similar word contains at least one.

    Each allowed edit changes at most one piece. Pieces have at least two letters, since one
    letter would match everything; therefore a few words are missed.
    """
    edits = int((1 - threshold) * len(word) + 1e-9)
    count = max(1, min(edits + 1, len(word) // 2))
    cuts = [number * len(word) // count for number in range(count + 1)]
    return [word[a:b] for a, b in pairwise(cuts)]


def build_regex(query: FuzzyQuery, threshold: float) -> str:
    """Return a regex that matches every word that may be similar to one of the query."""
    pieces = {piece for word in query.targets for piece in cut_fragments(word, threshold)}
    return rf"\w*(?:{'|'.join(map(re.escape, sorted(pieces)))})\w*"


Likeness = Mapping[str, Mapping[int, float]]
"""For a word as it is written: the targets it is like, by number, and how much."""


def compare_words(query: FuzzyQuery, words: Iterable[str], threshold: float) -> Likeness:
    """Compare words with the targets of a query; words similar to none are left out."""
    lengths = [len(target) for target in query.targets]
    shortest, longest = int(min(lengths) * threshold), int(max(lengths) / threshold) + 1
    written: dict[str, list[str]] = {}  # by what of them is compared
    for word in words:
        if len(word) <= LONGEST_WORD:
            for form in _list_forms(word, shortest, longest):
                written.setdefault(form, []).append(word)
    forms = list(written)
    found: dict[str, dict[int, float]] = {}
    for number, target in enumerate(query.targets):
        near = process.extract_iter(
            target, forms, scorer=OSA.normalized_similarity, score_cutoff=threshold
        )
        alike = {form: score for form, score, _ in near}
        if len(target) >= HELD_FROM:
            for form in [form for form in forms if target in form]:
                held = HELD + (MAX_HELD - HELD) * len(target) / len(form)
                alike[form] = max(held, alike.get(form, 0.0))
        for form, score in alike.items():
            if score >= threshold:
                for word in written[form]:
                    scores = found.setdefault(word, {})
                    scores[number] = max(score, scores.get(number, 0.0))
    return found


def score(query: FuzzyQuery, line: Sequence[Mapping[int, float]]) -> float:
    """Return how like the query a line is, from the likenesses of its words.

    Each word of the query counts by its length with the most similar word of the line.
    """
    best: dict[int, float] = {}
    for scores in line:
        for number, similarity in scores.items():
            best[number] = max(similarity, best.get(number, 0.0))
    whole = best.get(len(query.words), 0.0)
    apart = sum(weight * best.get(number, 0.0) for number, weight in enumerate(query.weights))
    return round(max(whole, apart), 4)


def choose_needed(query: FuzzyQuery, counts: Sequence[int], threshold: float) -> frozenset[int]:
    """Return targets, rare ones first, of which every similar line has at least one.

    Without them the others would not reach the threshold.
    """
    chosen = set(range(len(query.words), len(query.targets)))
    left = 1.0
    for number in sorted(range(len(query.words)), key=lambda number: counts[number]):
        if left < threshold:
            break
        chosen.add(number)
        left -= query.weights[number]
    return frozenset(chosen)


def _list_forms(word: str, shortest: int, longest: int) -> Iterable[str]:
    """Return the forms of a word that are compared: its parts, and runs of them joined."""
    parts = split_identifier(word)
    count = len(parts)
    if count <= 1:
        return parts
    forms = set(parts)
    for first in range(count - 1):
        form = parts[first]
        for part in parts[first + 1 :]:
            form += part
            if len(form) > longest:
                break
            if len(form) >= shortest:
                forms.add(form)
    return forms
