"""Fuse: one ranking out of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragforge.domain.hits import Match


def mix_scores(
    words: Mapping[str, float], meaning: Mapping[str, float], meaning_weight: float
) -> dict[str, float]:
    """Mix the scores, each 0..1, of two searches; best first.

    Ranks alone would forget how much better one hit is than the next. Where one search
    has found nothing, the other's scores stand as they are.
    """
    share = 0.0 if not meaning else 1.0 if not words else meaning_weight
    mixed = {
        found: (1 - share) * words.get(found, 0.0) + share * meaning.get(found, 0.0)
        for found in {**words, **meaning}
    }
    return dict(sorted(mixed.items(), key=lambda item: -item[1]))


def scale_above(matches: Sequence[Match], least: float, limit: int) -> dict[str, float]:
    """Return how far the scores of a search stand above the least that counts, 0..1.

    A search that was cut off at its limit may have left out what is hardly worse than its
    last: that one counts nothing then, so that being left out costs nothing.
    """
    if len(matches) >= limit > 1:
        least = max(least, min(match.score for match in matches))
    room = max(1.0 - least, 1e-9)
    return {match.id: min(max((match.score - least) / room, 0.0), 1.0) for match in matches}


def list_signals(**found_by: bool) -> tuple[str, ...]:
    """Return the names of the searches that found something."""
    return tuple(name for name, is_true in found_by.items() if is_true)
