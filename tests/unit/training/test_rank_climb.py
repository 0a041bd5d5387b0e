"""Climbing to better weights."""

from __future__ import annotations

import pytest

from training.rank_climb import climb


def test_climbing_raises_and_lowers_weights_until_nothing_is_gained() -> None:
    def measure(weights: dict[str, float]) -> float:
        return -((weights["a"] - 4.0) ** 2) - (weights["b"] - 0.1) ** 2

    best, score = climb(measure, {"a": 1.0, "b": 1.0, "unused": 7.0})

    assert best["a"] == pytest.approx(4.0, rel=0.07)
    assert best["b"] == pytest.approx(0.1, abs=0.03)
    assert best["unused"] == 7.0
    assert score == measure(best)


def test_climbing_stays_where_every_step_loses() -> None:
    def measure(weights: dict[str, float]) -> float:
        return -abs(weights["a"] - 1.0)

    assert climb(measure, {"a": 1.0}) == ({"a": 1.0}, 0.0)
