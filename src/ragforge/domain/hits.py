"""Hits: what a search found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Match:
    """The id of something found. Scores compare within one answer only, except a
    vector's: (1 + cosine) / 2 on every engine."""

    id: str
    score: float
