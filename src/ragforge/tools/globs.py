"""Globs: which paths a pattern selects.

As in git: without a slash a pattern is for names at any depth, with one for whole paths; `**`
is any number of directories. `{a,b}` is either.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from ragforge.brain.files.ignore import (
    MalformedPattern,
    is_plain,
    translate_name,
    translate_path,
)
from ragforge.errors import BadPattern, OutsideProject

ALL = frozenset(("", ".", "*", "**", "**/*", "/", "./"))
MAX_ALTERNATIVES = 100
_BRACES = re.compile(r"\\.|[{},]", re.DOTALL)


@lru_cache(maxsize=64)
def compile_glob(pattern: str) -> re.Pattern[str] | None:
    """Return a regex that matches the selected paths, or None if all are selected.

    The pattern is relative to the root. Raises BadPattern, or OutsideProject.
    """
    original = pattern
    pattern = pattern.removeprefix("./")
    if pattern in ALL:
        return None
    if pattern.startswith("/") or ".." in pattern.split("/"):
        raise OutsideProject(original)
    try:
        return re.compile(
            "|".join(map(_translate_glob, _expand_braces(pattern, original))), re.DOTALL
        )
    except MalformedPattern as error:
        why = "a `[` is not closed, or a `\\` is at the end"
        raise BadPattern("glob", original, why) from error


def is_wild(pattern: str) -> bool:
    """Tell whether a pattern can match more than the one path it spells."""
    return not is_plain(pattern) or "{" in pattern


def _translate_glob(pattern: str) -> str:
    if "/" not in pattern:
        return f"(?:.*/)?{translate_name(pattern)}"
    return translate_path(f"{pattern}**" if pattern.endswith("/") else pattern)


def _expand_braces(pattern: str, original: str) -> list[str]:
    """Return the patterns that result from all `{a,b}` of a pattern."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        first, *waiting = waiting
        span = _find_braces(first)
        if span is None:
            done.append(first)
        else:
            start, end, commas = span
            edges = [start, *commas, end]
            inner = [first[a + 1 : b] for a, b in pairwise(edges)]
            waiting = [first[:start] + part + first[end + 1 :] for part in inner] + waiting
        if len(done) + len(waiting) > MAX_ALTERNATIVES:
            raise BadPattern(
                "glob", original, f"its braces mean more than {MAX_ALTERNATIVES} globs"
            )
    return done


def _find_braces(pattern: str) -> tuple[int, int, list[int]] | None:
    """Return where the first closed braces begin and end, and the commas between."""
    opened: list[int] = []
    commas: dict[int, list[int]] = {}
    for mark in _BRACES.finditer(pattern):
        position, char = mark.start(), mark.group()
        if char == "{":
            opened.append(position)
            commas[position] = []
        elif char == "," and opened:
            commas[opened[-1]].append(position)
        elif char == "}" and opened:
            start = opened.pop()
            if commas[start]:  # `{a}` means itself
                return start, position, commas[start]
    return None
