"""Fuse: one ranking out of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragforge.domain.hits import Match


@dataclass(frozen=True, slots=True)
class Fused:
    """Something found by one search or several."""

    id: str
    score: float  # 0..1
    found_by: tuple[str, ...]


def convex(words: Sequence[Match], vectors: Sequence[Match], vector_weight: float) -> list[Fused]:
    """Mix the scores of two searches, each brought to 0..1, best first.

    Ranks alone would forget how much better one hit is than the next.
    """
    by_words, by_vectors = _normalised(words), _normalised(vectors)
    fused = []
    for found in dict.fromkeys([*by_words, *by_vectors]):
        word, vector = by_words.get(found), by_vectors.get(found)
        score = (1 - vector_weight) * (word or 0.0) + vector_weight * (vector or 0.0)
        names = [("words", word), ("meaning", vector)]
        fused.append(Fused(found, score, tuple(name for name, score in names if score is not None)))
    return sorted(fused, key=lambda item: -item.score)


def _normalised(matches: Sequence[Match]) -> dict[str, float]:
    """Bring scores to 0..1: the best is 1; the worst keeps a little, for it was found."""
    if not matches:
        return {}
    scores = [match.score for match in matches]
    low, high = min(scores), max(scores)
    spread = high - low
    if spread <= 0:
        return {match.id: 1.0 for match in matches}
    return {match.id: 0.05 + 0.95 * (match.score - low) / spread for match in matches}
