"""Wording: what is searched for to answer a question, whatever its language."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, TypeAlias

WordGroup: TypeAlias = frozenset[str]

MARK = "0"
"""What a stem of another language than English begins with."""


class Wording(NamedTuple):
    """What to search for."""

    text: str  # the question, with the English of its words
    english: str  # the question in English, as far as its words are known
    groups: tuple[WordGroup, ...] = ()  # words that mean the same; without groups each is its own


def measure_share(words: Collection[str], groups: Sequence[WordGroup]) -> float:
    """Return the share of the groups that have one of these words, 0..1."""
    return sum(not group.isdisjoint(words) for group in groups) / max(len(groups), 1)
