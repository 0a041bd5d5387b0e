"""Wording: what is searched for to answer a question, whatever its language."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

WordGroup: TypeAlias = frozenset[str]


class Wording(NamedTuple):
    """What to search for."""

    text: str  # the question, with the English of its words
    english: str  # the question in English, as far as its words are known
    groups: tuple[WordGroup, ...] = ()  # words that mean the same; without groups each is its own
