"""Leads: the comments and attributes right above a definition, which belong to it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tree_sitter import Node

from ragforge.brain.parse.outline import MAX_DOCSTRING_CHARS
from ragforge.brain.parse.source import SourceText

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
