"""Wording: a question as it is looked for, whatever language it was asked in."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

WordGroup: TypeAlias = frozenset[str]


class Wording(NamedTuple):
    """What to search for."""

    text: str  # the question, with the English of its words
    english: str  # the question in English, as far as its words are known
    groups: tuple[WordGroup, ...] = ()  # of words for the same thing; none: each stands for itself
