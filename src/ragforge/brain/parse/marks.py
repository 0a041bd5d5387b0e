"""Marks: the bases, decorators and docstrings of scopes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence

from tree_sitter import Node

from ragforge.brain.parse.comments import read_string
from ragforge.brain.parse.names import parse_bases, parse_name
from ragforge.brain.parse.scope_draft import ScopeDraft, Stretch
from ragforge.brain.parse.source import Source

_BETWEEN_DECORATORS = b" \t\r\n,#[]"
_DECORATOR = re.compile(r"[\s@#\[!(]*([\w$.:\\]+)")


def attach_marks(
    source: Source, stretches: Sequence[Stretch], captures: Mapping[str, list[Node]]
) -> None:
    """Attach each mark to the innermost scope around it."""
    starts = [start for start, _ in stretches]

    def find_innermost(byte: int) -> ScopeDraft:
        return stretches[bisect_right(starts, byte) - 1][1]

    for node in _sort_nodes(captures.get("bases")):
        _add_bases(source, find_innermost(node.start_byte), node)
    for node in _sort_nodes(captures.get("decorator")):
        scope = find_innermost(node.start_byte)
        if node.start_byte < scope.name_start:
            _add_decorator(source, scope, node)
    for node in captures.get("signature", ()):
        scope = find_innermost(node.start_byte)
        if node.end_byte <= scope.name_start:
            scope.signature_start, scope.body_start = node.byte_range
    for node in _sort_nodes(captures.get("doc")):
        scope = find_innermost(node.start_byte)
        if not scope.documented:
            scope.docstring = read_string(source.get_text(*node.byte_range))
            scope.documented = True


def _sort_nodes(nodes: list[Node] | None) -> list[Node]:
    """Return nodes by position: a query yields them pattern by pattern."""
    return sorted(nodes or (), key=lambda node: node.start_byte)


def _add_bases(source: Source, scope: ScopeDraft, node: Node) -> None:
    names = parse_bases(source.get_text(*node.byte_range))
    scope.bases = tuple(dict.fromkeys((*scope.bases, *names)))
    scope.header_end = max(scope.header_end, node.end_byte)


def _add_decorator(source: Source, scope: ScopeDraft, node: Node) -> None:
    if match := _DECORATOR.match(source.get_text(*node.byte_range)):
        scope.decorators.append(parse_name(match.group(1))[0])
    scope.header_end = max(scope.header_end, node.end_byte)
    skipped = source.data[scope.signature_start : node.start_byte]
    if node.start_byte >= scope.signature_start and not skipped.strip(_BETWEEN_DECORATORS):
        start = node.end_byte
        while start < scope.name_start and source.data[start] in _BETWEEN_DECORATORS:
            start += 1
        scope.signature_start = start
