"""Source: the bytes of a file, and which line each of them is on."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

TYPES_WITH_METHODS = frozenset(("class", "interface", "struct", "enum", "trait", "impl", "object"))
"""A function directly in one of these is a method."""
FUNCTIONS = frozenset(("function", "method", "macro"))
"""Names bound in one of these are visible in the scopes inside it."""


_LINE_BYTES = 500
_LINE_END = re.compile(rb"\n")


class SourceText:
    """A file's text as grammars can parse it, with the lines that an editor shows.

    Carriage returns at line ends are removed, since many grammars fail on them. A NUL becomes a
    space, since it ends the input for some grammars; so does what a language has `blanked`.
    Line numbers stay the same.
    """

    def __init__(self, text: str, blanked: re.Pattern[bytes] | None = None) -> None:
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        if "\0" in text:
            text = text.replace("\0", " ")
        self.data = text.encode("utf-8", "replace")
        if blanked is not None:
            self.data = blanked.sub(_blank, self.data)
        self.line_count = self.data.count(b"\n") + (not self.data.endswith(b"\n"))

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(end.end() for end in _LINE_END.finditer(self.data))]

    def find_line(self, byte: int) -> int:
        """Return the line of a byte, counted from 1."""
        return bisect_right(self._line_starts, byte)

    def find_last_line(self, end: int, start: int) -> int:
        """Return the line on which a range ends, without trailing white space."""
        while end > start and self.data[end - 1] in b" \t\r\n\f\v":
            end -= 1
        return self.find_line(max(end - 1, start))

    def begins_line(self, byte: int) -> bool:
        """Tell whether only white space precedes a byte on its line."""
        before = self.data[self._line_starts[self.find_line(byte) - 1] : byte]
        return not before or before.isspace() or before == b"\xef\xbb\xbf"

    def get_line(self, byte: int) -> str:
        """Return the line of a byte, without what is longer than a line of code."""
        start = self._line_starts[self.find_line(byte) - 1]
        line = self.data[max(start, byte - _LINE_BYTES) : byte + _LINE_BYTES]
        return line.partition(b"\n")[0].decode("utf-8", "replace")

    def get_text(self, start: int, end: int) -> str:
        """Return a range as text."""
        return self.data[start:end].decode("utf-8", "replace")


def _blank(match: re.Match[bytes]) -> bytes:
    return b" " * len(match.group())


@dataclass(slots=True, eq=False)
class ScopeDraft:
    """A definition's range of bytes, and what has been found of it so far."""

    type: str
    name: str
    start: int  # of the node; later of the comments and attributes above it
    end: int
    name_start: int
    name_end: int
    body_start: int
    signature_start: int
    owner: str = ""  # the type it belongs to, if it is outside of it
    torn: bool = False  # there are syntax errors in it
    index: int = 0
    around: ScopeDraft | None = None  # the scope it is written in; None at the top
    parent: ScopeDraft | None = None  # the scope it belongs to
    qualified_name: str = ""
    docstring: str = ""
    documented: bool = False  # by a docstring, which wins over a comment above
    latest: ScopeDraft | None = None  # the last scope in it so far
    filled: int = 0  # where that one ends
    bases: tuple[str, ...] = ()
    decorators: list[str] = field(default_factory=list)
    header_end: int = 0  # names of bases and decorators before it are not uses
    locals: dict[str, int] = field(default_factory=dict)  # how often each is bound
    origins: dict[str, str] = field(default_factory=dict)  # of its variables or fields
    declared: dict[str, int] = field(default_factory=dict)  # how often an origin was looked for
    calls: dict[str, None] = field(default_factory=dict)  # in their order
    uses: dict[str, None] = field(default_factory=dict)


Stretch: TypeAlias = tuple[int, ScopeDraft]  # where it starts, and the innermost scope around it


def list_stretches(root: ScopeDraft, scopes: list[ScopeDraft]) -> list[Stretch]:
    """Return where each stretch of a file starts, and the innermost scope around it.

    A lookup in this list does not depend on how deep scopes are nested.
    """
    found = [(0, root)]
    stack = [root]
    for scope in scopes:
        while len(stack) > 1 and stack[-1].end <= scope.start:
            found.append((stack.pop().end, stack[-1]))
        stack.append(scope)
        found.append((scope.start, scope))
    while len(stack) > 1:
        found.append((stack.pop().end, stack[-1]))
    return found
