"""Source: the bytes of a file by lines, and the comments above a definition, which belong to it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from tree_sitter import Node

from ragforge.brain.parse.outline import MAX_DOCSTRING_CHARS

TYPES_WITH_METHODS = frozenset(("class", "interface", "struct", "enum", "trait", "impl", "object"))
"""A function directly in one of these is a method."""
FUNCTIONS = frozenset(("function", "method", "macro"))
"""Names bound in one of these are visible in the scopes inside it."""


_LINE_BYTES = 500
_MAY_PRECEDE_FILE_COMMENT = frozenset(
    (b"", b"<?php", b"'use strict';", b'"use strict";', b"#pragma once", b"\xef\xbb\xbf")
)
_MAX_HEADER_COMMENTS = 500  # of a file with only comments, no more is read

_LICENCE = re.compile(r"copyright|licen[sc]e", re.IGNORECASE)
_OPENER = re.compile(r"\s*(?:/\*[*!]*|//[/!]*|\{-\s?\|?|--\[=*\[|--+\s?[|^]?|\*+(?!/)|#+!?|;+) ?")
_CLOSER = re.compile(r"\s*(?:\*+/|-\}|\]=*\])\s*$")
# Lines for machines: interpreters, editors, compilers and linters.
_FOR_MACHINES = re.compile(
    r"#!|.*-\*-|\s*#\s*(?:frozen_string_literal|noqa|type:)|//go:|//\s*eslint-"
)
_STRING = re.compile(r"(?:~?[A-Za-z]{0,2})(\"\"\"|'''|\"|')(.*?)(?:\1|\Z)", re.DOTALL)
_MAX_READ_CHARS = 4 * MAX_DOCSTRING_CHARS  # markers and indentation need some room
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


class Leads:
    """The comments and attributes of a file by the row on which they end."""

    def __init__(self, source: SourceText, comments: list[Node], others: Iterable[Node]) -> None:
        self._source = source
        self._comments = sorted(comments, key=lambda node: node.start_byte)
        self._other_starts = {node.start_byte for node in others}
        self._by_last_row = {_get_last_row(node): node for node in (*comments, *others)}
        self._claimed: set[int] = set()

    def find_above(self, start: int, floor: int) -> tuple[int, str]:
        """Return where a definition starts with its leads, and the text of its comment.

        What is before `floor` belongs to another definition.
        """
        source = self._source
        row = source.find_line(start) - 2
        if row not in self._by_last_row or not source.begins_line(start):
            return start, ""
        comments: list[Node] = []
        first = start
        while (
            (lead := self._by_last_row.get(row))
            and lead.start_byte >= floor
            and source.begins_line(lead.start_byte)
        ):
            if lead.start_byte not in self._other_starts:
                comments.append(lead)
            first = lead.start_byte
            row = lead.start_point[0] - 1
        text = "\n".join(self._read_text(comment) for comment in reversed(comments))
        if is_licence(text):
            return start, ""
        self._claimed.update(comment.start_byte for comment in comments)
        return first, read_comment(text)

    def read_file_comment(self) -> str:
        """Return the comment at the top of the file, unless it belongs to a definition."""
        position = 0
        block: list[Node] = []
        for comment in self._comments[:_MAX_HEADER_COMMENTS]:
            between = self._source.data[position : comment.start_byte]
            code = between.strip()
            if code not in _MAY_PRECEDE_FILE_COMMENT and not code.startswith((b"#!", b"{-#")):
                break
            if block and between.count(b"\n") > _count_line_ends(block[-1]):
                if words := self._read_words(block):
                    return words
                block = []
            block.append(comment)
            position = comment.end_byte
        return self._read_words(block)

    def _read_words(self, block: list[Node]) -> str:
        if any(comment.start_byte in self._claimed for comment in block):
            return ""
        text = "\n".join(self._read_text(comment) for comment in block)
        return "" if is_licence(text) else read_comment(text)

    def _read_text(self, node: Node) -> str:
        return self._source.get_text(node.start_byte, node.end_byte).rstrip("\n")


def _get_last_row(node: Node) -> int:
    row, column = node.end_point
    return row if column else max(row - 1, node.start_point[0])


def _count_line_ends(comment: Node) -> int:
    """Return how many line ends may follow a comment within its block."""
    return 0 if comment.end_point[1] == 0 else 1


def is_licence(text: str) -> bool:
    """Tell whether a comment is a licence or copyright notice."""
    return bool(_LICENCE.search(text))


def read_comment(text: str) -> str:
    """Return the text of a block of comments."""
    lines = [
        _CLOSER.sub("", _OPENER.sub("", line, count=1)).rstrip()
        for line in text[:_MAX_READ_CHARS].split("\n")
        if not _FOR_MACHINES.match(line)
    ]
    return "\n".join(lines).strip()[:MAX_DOCSTRING_CHARS].rstrip()


def read_string(text: str) -> str:
    """Return the text of a docstring literal, without its indentation."""
    literal = _STRING.match(text[:_MAX_READ_CHARS])
    first, *rest = (literal.group(2) if literal else text[:_MAX_READ_CHARS]).split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
    lines = [first.strip(), *(line[margin:].rstrip() for line in rest)]
    return "\n".join(lines).strip()[:MAX_DOCSTRING_CHARS].rstrip()
