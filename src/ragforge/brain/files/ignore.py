"""Ignore files: which paths `.gitignore` and `.ragforgeignore` leave out; the latter wins.

The rules are those of git, with two exceptions: the user's global ignore file is not read, and a
file that git tracks although it is ignored stays out.

Git's glob patterns become regular expressions. For ignore files the text is bytes decoded as
Latin-1, because `?` is one byte in git. No pattern makes matching slow: each star but the last
takes the first place that fits, and never backtracks.
"""

from __future__ import annotations

import os
import re
import stat
import string
from collections.abc import Collection, Iterator
from dataclasses import field
from functools import lru_cache
from pathlib import Path

from ragforge.records import dataclass

GITIGNORE = ".gitignore"
RAGFORGEIGNORE = ".ragforgeignore"
IGNORE_FILES = frozenset({GITIGNORE, RAGFORGEIGNORE})

NONE = -1
SPECIAL = re.compile(r"[*?\[\\]")
WITHIN = "[^/]*"
NAMED_CLASSES = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "blank": " \t",
    "cntrl": "".join(map(chr, range(32))) + "\x7f",
    "digit": string.digits,
    "graph": "".join(map(chr, range(33, 127))),
    "lower": string.ascii_lowercase,
    "print": "".join(map(chr, range(32, 127))),
    "punct": string.punctuation,
    "space": " \t\n\v\f\r",
    "upper": string.ascii_uppercase,
    "xdigit": string.hexdigits,
}


@dataclass(frozen=True, slots=True)
class IgnoreFile:
    """The patterns of one ignore file, and where it is."""

    for_files: Patterns
    for_directories: Patterns
    above: str = ""  # from the ignore file down to the root
    below: int = 0  # how much of a path leads from the root down to the ignore file

    def decide(self, path: str, name: str, is_directory: bool) -> bool | None:
        patterns = self.for_directories if is_directory else self.for_files
        return patterns.decide(self.above + path[self.below :], name)


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """All rules that hold in a directory: `.ragforgeignore` before `.gitignore`, nearest first."""

    strong: tuple[IgnoreFile, ...] = ()
    weak: tuple[IgnoreFile, ...] = ()

    def ignores(self, path: str, name: str, is_directory: bool) -> bool:
        """Tell whether a path is left out; its directory must not be."""
        if not path.isascii():
            path, name = _as_bytes(path), _as_bytes(name)
        for rules in self.strong + self.weak:
            verdict = rules.decide(path, name, is_directory)
            if verdict is not None:
                return verdict
        return False

    def enter(self, directory: str, path: str, names: Collection[str]) -> IgnoreRules:
        """Return the rules inside a directory, given the names in it."""
        below = len(os.fsencode(path)) + 1 if path else 0
        strong, weak = self.strong, self.weak
        if RAGFORGEIGNORE in names:
            strong = _read(os.path.join(directory, RAGFORGEIGNORE), below) + strong
        if GITIGNORE in names:
            weak = _read(os.path.join(directory, GITIGNORE), below) + weak
        return IgnoreRules(strong, weak)

    def rebase(self, path: str) -> IgnoreRules:
        """Return the same rules for paths relative to a directory below."""
        lead = _as_bytes(f"{path}/") if path else ""
        strong, weak = (
            tuple(IgnoreFile(r.for_files, r.for_directories, lead[r.below :]) for r in kind)
            for kind in (self.strong, self.weak)
        )
        return IgnoreRules(strong, weak)


def read_rules_above(root: Path) -> IgnoreRules:
    """Return the rules that hold at the root because of the repository around it.

    If these rules leave out the root itself, they do not count: it was chosen on purpose.
    """
    top = next((place for place in (root, *root.parents) if (place / ".git").exists()), root)
    ignore = IgnoreRules(weak=_read(str(_find_git_directory(top / ".git") / "info" / "exclude")))
    path = ""
    for step in root.relative_to(top).parts:
        ignore = ignore.enter(str(top / path), path, IGNORE_FILES)
        path = f"{path}/{step}" if path else step
        if ignore.ignores(path, step, is_directory=True):
            return IgnoreRules()
    return ignore.rebase(path)


def read_rules_in(root: Path, path: str) -> IgnoreRules:
    """Return the rules that hold in a directory that a walk from the root enters."""
    ignore = read_rules_above(root).enter(str(root), "", IGNORE_FILES)
    steps = path.split("/") if path else []
    for depth in range(1, len(steps) + 1):
        inner = "/".join(steps[:depth])
        ignore = ignore.enter(str(root / inner), inner, IGNORE_FILES)
    return ignore


def _find_git_directory(git: Path) -> Path:
    """Follow the `.git` file of a work tree to the git directory that all work trees share."""
    try:
        if git.is_file():
            git = git.parent / git.read_text().removeprefix("gitdir:").strip()
            return git / (git / "commondir").read_text().strip()
    except (OSError, ValueError):
        pass  # a submodule has no `commondir`
    return git


def _read(path: str, below: int = 0) -> tuple[IgnoreFile, ...]:
    """Read an ignore file. Links are not followed, as in git; a pipe would block."""
    try:
        if stat.S_ISREG(os.lstat(path).st_mode):
            with open(path, encoding="latin-1", newline="") as file:
                return (IgnoreFile(*compile_patterns(file.read()), below=below),)
    except OSError:
        pass  # git also continues without it
    return ()


def _as_bytes(text: str) -> str:
    return os.fsencode(text).decode("latin-1")


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


class MalformedPattern(ValueError):
    """The pattern cannot match anything."""


def is_plain(pattern: str) -> bool:
    """Tell whether a pattern has no special characters."""
    return SPECIAL.search(pattern) is None


def translate_name(pattern: str) -> str:
    """Return the expression for the last part of a path; the pattern has no slash.

    Raises MalformedPattern.
    """
    return _PatternReader(pattern, slashes=False).read()


def translate_path(pattern: str) -> str:
    """Return the expression for a path relative to the directory of the pattern.

    Raises MalformedPattern.
    """
    pattern = pattern.removeprefix("/")
    wild = SPECIAL.search(pattern)
    plain = wild.start() if wild else len(pattern)
    # Git compares the plain beginning first, so in `foo**/bar` the pattern starts at the stars.
    return re.escape(pattern[:plain]) + _PatternReader(pattern[plain:], slashes=True).read()


@dataclass(slots=True)
class _PatternReader:
    """Reads a pattern once, from left to right."""

    pattern: str
    slashes: bool
    at: int = 0
    done: list[str] = field(default_factory=list)  # up to the last `**/`
    deep: str = ""  # the last `**/`
    stars: list[str] = field(default_factory=lambda: [""])  # the parts between stars after it

    def read(self) -> str:
        while self.at < len(self.pattern):
            char = self.pattern[self.at]
            if char == "*":
                self._read_star()
                continue
            self.at += 1
            if char == "?":
                self.stars[-1] += "[^/]"
            elif char == "[":
                self.stars[-1] += self._read_set()
            else:
                self.stars[-1] += re.escape(self._take_next() if char == "\\" else char)
        return "".join(self.done) + self.deep + self._join_since_deep()

    def _take_next(self) -> str:
        if self.at >= len(self.pattern):
            raise MalformedPattern(self.pattern)
        self.at += 1
        return self.pattern[self.at - 1]

    def _read_star(self) -> None:
        first = self.at
        while self.pattern[self.at : self.at + 1] == "*":
            self.at += 1
        rest = self.pattern[self.at :]
        whole = first == 0 or self.pattern[first - 1] == "/"
        if not self.slashes or self.at - first == 1 or not whole:
            self.stars.append("")
        elif rest == "":
            self.stars[-1] += ".*"
        elif rest.startswith("/"):
            self._read_deep("(?:.*?/)??", 1)
        elif rest.startswith("\\/"):
            self._read_deep(".*?/", 2)
        else:
            self.stars.append("")

    def _read_deep(self, deep: str, slash: int) -> None:
        before = self.deep + self._join_since_deep()
        self.done.append(f"(?>{before})" if self.deep else before)
        self.deep, self.stars = deep, [""]
        self.at += slash

    def _join_since_deep(self) -> str:
        head, *rest = self.stars
        if not rest:
            return head
        between = "".join(f"(?>{WITHIN}?{part})" for part in rest[:-1])
        return head + between + WITHIN + rest[-1]

    def _read_set(self) -> str:
        """Read a set of characters up to its `]`; the first character may be a `]`."""
        negated = self.pattern[self.at : self.at + 1] in ("!", "^")
        self.at += negated
        members: set[str] = set()
        previous = ""
        char = self._take_next()
        while True:
            following = self.pattern[self.at : self.at + 1]
            if char == "\\":
                char = self._take_next()
                members.add(char)
            elif char == "-" and previous and following not in ("", "]"):
                last = self._take_next()
                last = self._take_next() if last == "\\" else last
                members.update(map(chr, range(ord(previous), ord(last) + 1)))
                char = ""
            elif (
                char == "[" and following == ":" and (named := self._read_named_class()) is not None
            ):
                members.update(named)
                char = ""
            else:
                members.add(char)
            previous, char = char, self._take_next()
            if char == "]":
                break
        listed = "".join(map(re.escape, sorted(members - {"/"})))
        if negated:
            return f"[^/{listed}]"
        return f"[{listed}]" if listed else "(?!)"

    def _read_named_class(self) -> str | None:
        """Read the rest of `[:alpha:]`; None if it is not a named class."""
        end = self.pattern.find("]", self.at + 1)
        if end < 0:
            raise MalformedPattern(self.pattern)
        if end == self.at + 1 or self.pattern[end - 1] != ":":
            return None
        name = self.pattern[self.at + 1 : end - 1]
        if name not in NAMED_CLASSES:
            raise MalformedPattern(self.pattern)
        self.at = end + 1
        return NAMED_CLASSES[name]
