"""Wildmatch: git's glob patterns as regular expressions.

For ignore files the text is bytes decoded as Latin-1, because `?` is one byte in git. No pattern
makes matching slow: each star but the last takes the first place that fits, and never backtracks.
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass, field

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
