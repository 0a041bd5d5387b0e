"""Patterns: the lines of one ignore file, compiled.

`pathspec` is not used: compared with git on random trees it was wrong in one of eight, and it
tries the lines one by one. Here the usual lines, `name` and `*.ending`, are looked up in
dictionaries, and the others are tried as one expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ragforge.brain.files.wildmatch import (
    MalformedPattern,
    is_plain,
    translate_name,
    translate_path,
)
from ragforge.records import dataclass

NONE = -1


@dataclass(frozen=True, slots=True)
class PatternLine:
    """One line; a pattern with a slash matches paths, one without matches names."""

    pattern: str
    ignores: bool  # or includes again
    only_directories: bool


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Several expressions as one; the last line that matches counts."""

    regex: re.Pattern[str]
    numbers: tuple[int, ...]  # of the lines, by group

    def find_last(self, text: str) -> int:
        match = self.regex.fullmatch(text)
        return self.numbers[match.lastindex - 1] if match and match.lastindex else NONE


@dataclass(frozen=True, slots=True)
class Patterns:
    """Lines by the way they are matched; the matching line with the highest number wins."""

    lines: tuple[PatternLine, ...]
    plain: dict[str, int]
    endings: dict[str, int]
    lengths: frozenset[int]  # of the endings
    names: AnyOf | None
    paths: AnyOf | None

    def decide(self, path: str, name: str) -> bool | None:
        """Return whether a path is ignored, or None if no line matches."""
        last = self.plain.get(name, NONE)
        # A walk asks this of every name: `max` would take half of the time.
        for length in self.lengths:
            if (number := self.endings.get(name[-length:], NONE)) > last:
                last = number
        if self.names and (number := self.names.find_last(name)) > last:
            last = number
        if self.paths and (number := self.paths.find_last(path)) > last:
            last = number
        return None if last == NONE else self.lines[last].ignores


@lru_cache(maxsize=256)
def compile_patterns(text: str) -> tuple[Patterns, Patterns]:
    """Compile an ignore file, its bytes read as Latin-1, for files and for directories."""
    lines = tuple(_parse_lines(text))
    return _compile(tuple(line for line in lines if not line.only_directories)), _compile(lines)


def _compile(lines: tuple[PatternLine, ...]) -> Patterns:
    plain: dict[str, int] = {}
    endings: dict[str, int] = {}
    names: dict[int, str] = {}
    paths: dict[int, str] = {}
    for number, line in enumerate(lines):
        pattern, ending = line.pattern, line.pattern[1:]
        try:
            if "/" in pattern:
                paths[number] = translate_path(pattern)
            elif is_plain(pattern):
                plain[pattern] = number
            elif pattern.startswith("*") and ending and is_plain(ending):
                endings[ending] = number
            else:
                names[number] = translate_name(pattern)
        except MalformedPattern:
            continue  # git lets it match nothing
    return Patterns(
        lines,
        plain,
        endings,
        frozenset(map(len, endings)),
        _join_regexes(names),
        _join_regexes(paths),
    )


def _join_regexes(regexes: dict[int, str]) -> AnyOf | None:
    if not regexes:
        return None
    numbers = tuple(reversed(regexes))
    # The empty group is last, so that a plain first letter can exclude a line at once.
    regex = re.compile("|".join(f"{regexes[number]}()" for number in numbers), re.DOTALL)
    return AnyOf(regex, numbers)


def _parse_lines(text: str) -> Iterator[PatternLine]:
    for raw in text.removeprefix("\xef\xbb\xbf").split("\n"):
        if raw.startswith("#"):
            continue
        line = _strip_trailing_spaces(raw.removesuffix("\r"))
        with_slash = line.removeprefix("!")
        pattern = with_slash.removesuffix("/")
        if pattern:
            yield PatternLine(pattern, not line.startswith("!"), pattern != with_slash)


def _strip_trailing_spaces(line: str) -> str:
    bare = line.rstrip(" ")
    backslashes = len(bare) - len(bare.rstrip("\\"))
    escaped = backslashes % 2 == 1 and bare != line
    return f"{bare} " if escaped else bare
