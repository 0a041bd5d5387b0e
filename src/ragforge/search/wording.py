"""Wording: what is searched for to answer a question, whatever its language."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple, TypeAlias

WordGroup: TypeAlias = frozenset[str]

MARK = "0"
"""What a stem of another language than English begins with."""
MIN_WORDS = 4
"""A shorter rest of a question says too little without the name of the project."""


class Wording(NamedTuple):
    """What to search for."""

    text: str  # the question, with the English of its words
    english: str  # the question in English, as far as its words are known
    groups: tuple[WordGroup, ...] = ()  # words that mean the same; without groups each is its own


def leave_out_project(question: str, name: str) -> str:
    """Return a question without the name of the project, where it asks what the project does.

    "How does Flask choose an error handler?" is about error handlers. The name is in the paths and
    in many names of a project, so that it would decide which file comes first.
    """
    found = re.search(rf"\b(does|do|did|can|will|in)\s+{re.escape(name)}\s+(?=\w)", question, re.I)
    if found is None or len(question[found.end() :].split()) < MIN_WORDS:
        return question
    return f"{question[: found.start()]}{found[1]} it {question[found.end() :]}"


def count_shared(words: Collection[str], groups: Sequence[WordGroup]) -> int:
    """Return how many of the groups have one of these words."""
    return sum(not group.isdisjoint(words) for group in groups)


def measure_share(words: Collection[str], groups: Sequence[WordGroup]) -> float:
    """Return the share of the groups that have one of these words, 0..1."""
    return count_shared(words, groups) / max(len(groups), 1)
