"""Fuse: make one ranking of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter

from ragforge.domain.hits import Match


def mix_scores(
    words: Mapping[str, float], meaning: Mapping[str, float], meaning_weight: float
) -> dict[str, float]:
    """Return the weighted mean of the scores, each 0..1, of two searches; best first.

    Unlike ranks, scores show how much better one hit is than the next. If one search found
    nothing, the scores of the other are returned unchanged.
    """
    share = 0.0 if not meaning else 1.0 if not words else meaning_weight
    mixed = {
        found: (1 - share) * words.get(found, 0.0) + share * meaning.get(found, 0.0)
        for found in {**words, **meaning}
    }
    return sort_scores(mixed)


def sort_scores(scores: Mapping[str, float]) -> dict[str, float]:
    """Return scores, the best first."""
    return dict(sorted(scores.items(), key=itemgetter(1), reverse=True))


def scale_above(matches: Sequence[Match], threshold: float, limit: int) -> dict[str, float]:
    """Return how far the scores of a search are above a threshold, scaled to 0..1.

    A search that reached its limit may have left out matches that are hardly worse than its
    last. Then the last one scores 0, so that being left out makes no difference.
    """
    if len(matches) >= limit > 1:
        threshold = max(threshold, min(match.score for match in matches))
    room = max(1.0 - threshold, 1e-9)
    return {match.id: min(max((match.score - threshold) / room, 0.0), 1.0) for match in matches}


def list_signals(**found_by: bool) -> tuple[str, ...]:
    """Return the names of the searches that found something."""
    return tuple(name for name, is_true in found_by.items() if is_true)
