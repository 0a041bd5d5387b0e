"""BM25: how much the words of a query count in a text that contains them."""

from __future__ import annotations

import math
from typing import Any

K1 = 1.2
"""The weight of further occurrences of a word."""
B = 0.5
"""How much less a word counts in a text that is longer than the others."""


def weigh_word(texts: int, containing: int) -> float:
    """Return what a word is worth: the fewer of the texts contain it, the more."""
    return math.log(1 + (max(texts - containing, 0) + 0.5) / (containing + 0.5))


def weigh_times(times: Any, saturation: Any = K1) -> Any:
    """Return how many times its worth a word counts that occurs so often; numbers or arrays.

    A word that occurs once in a text of the usual length counts once.
    """
    return times * (K1 + 1) / (times + saturation)


def saturate(lengths: Any, usual: float) -> Any:
    """Return how fast repeated words stop adding in texts of these lengths; K1 at the usual one."""
    return K1 * (1 - B + B * lengths / usual)
