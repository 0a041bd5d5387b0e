"""Source: the bytes of a file, and which line each of them is on."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property


class Source:
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
        return list(_find_line_starts(self.data))

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

    def get_text(self, start: int, end: int) -> str:
        """Return a range as text."""
        return self.data[start:end].decode("utf-8", "replace")


def _blank(match: re.Match[bytes]) -> bytes:
    return b" " * len(match.group())


def _find_line_starts(data: bytes) -> Iterator[int]:
    position = 0
    for line in data.split(b"\n"):
        yield position
        position += len(line) + 1
