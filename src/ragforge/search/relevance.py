"""Relevance: how likely a message is about what was found, the same estimate for every kind.

A ranking only compares hits with each other: it has a first hit even if nothing is relevant. So a
logistic function combines signals that mean the same in every project. Its weights differ by kind,
since prose is nearer to any message than code, and a turn holds more words than a note. They were
fitted by `--fit` of the benchmarks `relevance`, `memory_relevance` and `notes` (decision 11).
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, TypeAlias

RelevantKind: TypeAlias = Literal["code", "documents", "memory", "notes"]


class Evidence(NamedTuple):
    """The evidence that a message is about what was found: 0..1, and 0 where a kind has none.

    A note a little below the threshold has a `meaning` below 0.
    """

    meaning: float = 0.0  # how far the nearest hit is above the model's threshold
    held: float = 0.0  # how much of its words one hit contains
    unknown: float = 0.0  # the share of its words that occur nowhere, less in a small project
    named: float = 0.0  # the share of its words in the name or path of one of the best hits
    exact: float = 0.0  # whether it names a scope or file that exists
    trade: float = 0.0  # the share of words that may be about software; a third is 1


class Weights(NamedTuple):
    """What each part of the evidence counts."""

    bias: float
    each: Evidence


_CODE = Evidence(3.77, 1.86, -4.03, 1.53, 1.13, 0.31)
_CODE_BY_WORDS = Evidence(0.0, 2.59, -4.66, 2.64, 1.69, 0.49)
WEIGHTS: dict[RelevantKind, Weights] = {
    "code": Weights(-1.43, _CODE),
    "documents": Weights(-2.18, _CODE),
    "memory": Weights(-3.01, Evidence(5.02, 2.44, -2.77)),
    "notes": Weights(-1.33, Evidence(5.0, 0.9)),
}
WEIGHTS_BY_WORDS: dict[RelevantKind, Weights] = {
    "code": Weights(-1.1, _CODE_BY_WORDS),
    "documents": Weights(-1.85, _CODE_BY_WORDS),
    "memory": Weights(-1.18, Evidence(0.0, 3.73, -3.88)),
    "notes": Weights(-1.73, Evidence(0.0, 4.94)),
}
"""Without vectors."""


def estimate(kind: RelevantKind, evidence: Evidence, by_meaning: bool = True) -> float:
    """Return how likely a message with this evidence is about the best hits of a kind, 0..1."""
    bias, each = (WEIGHTS if by_meaning else WEIGHTS_BY_WORDS)[kind]
    total = bias + sum(map(float.__mul__, map(float, evidence), each))
    return 1 / (1 + math.exp(-total))
