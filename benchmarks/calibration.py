"""Calibration: fit the weights of a relevance estimate, and check how reliable it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

STEPS = 50
RIDGE = 2e-3


class Judged(NamedTuple):
    """A message with its evidence and estimate."""

    evidence: Sequence[float]
    estimate: float
    is_about: bool
    weight: float  # how much it counts


def fit(judged: Sequence[Judged]) -> list[float]:
    """Return the bias and a weight for each part of the evidence: a logistic regression."""
    table = np.array([[1.0, *one.evidence] for one in judged])
    about = np.array([float(one.is_about) for one in judged])
    shares = np.array([one.weight for one in judged])
    shares /= shares.sum()
    ridge = RIDGE * np.diag([0.0, *np.ones(table.shape[1] - 1)])
    weights = np.zeros(table.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (shares * (likely - about)) + ridge @ weights
        bend = (table * (shares * likely * (1 - likely))[:, None]).T @ table + ridge
        weights -= np.linalg.solve(bend, slope)
    fitted: list[float] = weights.round(2).tolist()
    return fitted


def measure_reliability(judged: Iterable[Judged], bins: int = 10) -> list[tuple[float, float, int]]:
    """Return for each part of the range the mean estimate, the share about it, and how many."""
    parts: list[list[Judged]] = [[] for _ in range(bins)]
    for one in judged:
        parts[min(int(one.estimate * bins), bins - 1)].append(one)
    found = []
    for some in filter(None, parts):
        weights = [one.weight for one in some]
        mean = np.average([one.estimate for one in some], weights=weights)
        about = np.average([one.is_about for one in some], weights=weights)
        found.append((round(float(mean), 3), round(float(about), 3), len(some)))
    return found
