"""Lose work: whether a command line runs git for more than reading, as far as it shows.

In auto mode no one is asked about other lines. A script can hide git from this check; git's own
folders are then read-only, so what was committed cannot be lost.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from ragforge.domain.text import split_words
from ragforge.tools.command.started import list_programs

_READING = split_words(
    """
    annotate blame cat-file check-ignore cherry count-objects describe diff diff-files diff-index
    diff-tree for-each-ref grep help log ls-files ls-tree merge-base name-rev range-diff rev-list
    rev-parse shortlog show show-branch show-ref status var version whatchanged
    """
)
_WITH_VALUE = split_words("-C -c --git-dir --work-tree --namespace --config-env")
_HIDING = ("$", "`", "*", "?")
"""Signs in the name of a program that a shell would expand to another name."""


def may_lose_work(line: str) -> bool:
    """Tell whether a line runs git for more than reading, or hides which program it runs."""
    return any(_changes(words) for words in list_programs(line))


def _changes(words: Sequence[str]) -> bool:
    name = os.path.basename(words[0])
    if any(sign in words[0] for sign in _HIDING):
        return True
    if name.startswith("git-"):
        return name.removeprefix("git-") not in _READING
    return name == "git" and _find_verb(words[1:]) not in _READING


def _find_verb(words: Sequence[str]) -> str:
    """Return the sub-command; of options only, `version` as git does."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _WITH_VALUE else 1
    return words[at] if at < len(words) else "version"
