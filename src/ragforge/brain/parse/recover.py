"""Recover: the definitions that a syntax error hides from the grammar.

Most errors cost one statement. After some, such as a brace that is never closed, the grammar
takes all that follows for a part of the broken definition, or gives up. There the heads of
definitions are recognised by keywords, and their ends by indentation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice

from tree_sitter import Node

from ragforge.brain.parse.source import FUNCTIONS, TYPES_WITH_METHODS, ScopeDraft, SourceText

_MODIFIER = (
    r"(?:public|private|protected|internal|static|final|abstract|override|open|sealed|data|inner"
    r"|inline|suspend|async|export|default|pub(?:\([^)\n]*\))?|unsafe|virtual|partial|case|declare)"
)
_STATEMENT = r"(?:await|case|catch|delete|do|else|for|goto|if|new|return|switch|throw|while|yield)"
_HEAD = re.compile(
    (
        rf"^[ \t]*(?:(?:{_MODIFIER}[ \t]+)*(?:"
        r"(?P<kind>class|interface|object|struct|enum|trait|protocol|fun|func|fn|def|function)"
        r"[ \t*]+(?:\([^)\n]*\)[ \t]*)?(?:<[^>\n]*>[ \t]*)?(?:[\w<>*?]+\.)*(?P<name>[^\W\d]\w*)"
        rf"|(?!{_STATEMENT}\b)[\w<>\[\],.?:]+[ \t*&]+(?P<method>[^\W\d]\w*)[ \t]*"
        r"\([^;={}\n]{0,300}\)[^;={}\n]{0,300}\{)"
        rf"|(?:{_MODIFIER}[ \t]+)+[\w<>\[\],.?]+[ \t]+(?P<open>[^\W\d]\w*)[ \t]*\([^;=\n]*$)"
    ).encode(),
    re.MULTILINE,
)
_MAX_LOST = 2_000  # lookups in a flat tree are slow
_NAMES = ("name", "method", "open")
_TYPES = {"fun": "function", "func": "function", "fn": "function", "def": "function"}
_TYPES |= {"protocol": "interface", "": "function"}
_CLOSING = (b"}", b")", b"]", b"end")
_TEXT = ("comment", "string", "heredoc", "template")


def recover(
    source: SourceText,
    top: Node,
    errors: list[Node],
    scopes: list[ScopeDraft],
    check_time: Callable[[], None],
) -> list[ScopeDraft]:
    """Return the scopes of a damaged file, repaired and with the lost ones.

    Time is checked for each of them, since any may reach to the end of the file.
    """
    ranges = [node.byte_range for node in errors]
    for scope in scopes:
        if scope.torn and scope.type in FUNCTIONS | TYPES_WITH_METHODS:
            check_time()
            end = _end_before_next_head(source.data, scope)
            if end < scope.end:
                ranges.append((end, scope.end))
                scope.end = end
    known = {scope.name_start for scope in scopes}
    heads = (
        (head, name)
        for start, end in _merge(ranges)
        for head in _HEAD.finditer(source.data, start, end)
        for name in _NAMES
        if head.group(name) and head.start(name) not in known
    )
    lost = []
    for head, name in islice(heads, _MAX_LOST):
        check_time()
        if not _is_text(top, head.start(name)):
            lost.append(_build_scope(source, head, name))
    return scopes + lost


def _merge(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _is_text(top: Node, byte: int) -> bool:
    """Tell whether a byte is in a comment, or in a string that has an end."""
    node = top.descendant_for_byte_range(byte, byte)
    if node is None or not any(word in node.type for word in _TEXT):
        return False
    return "comment" in node.type or node.parent is None or not node.parent.is_error


def _build_scope(source: SourceText, head: re.Match[bytes], name: str) -> ScopeDraft:
    kind = (head.group("kind") or b"").decode()
    start = head.start() + _measure_indentation(head.group())
    line_end = _find_line_end(source.data, start)
    return ScopeDraft(
        type=_TYPES.get(kind, kind),
        name=head.group(name).decode("utf-8", "replace"),
        start=start,
        end=_find_indented_end(source.data, head.start(), line_end),
        name_start=head.start(name),
        name_end=head.end(name),
        body_start=line_end,
        signature_start=start,
    )


def _find_indented_end(data: bytes, line_start: int, line_end: int) -> int:
    """Return the end of the last line that is indented deeper, or closes the definition."""
    margin = _measure_indentation(data[line_start:line_end])
    end = line_end
    for start, after in _split_lines(data, line_end + 1, len(data)):
        line = data[start:after]
        if stripped := line.strip():
            depth = _measure_indentation(line)
            inside = depth > margin
            closes = depth == margin and stripped.startswith((*_CLOSING, b"{"))
            if not inside and not closes:
                break
            end = after
            if not inside and stripped.startswith((b"}", b"end")):
                break
    return end


def _end_before_next_head(data: bytes, scope: ScopeDraft) -> int:
    """Return the end of a torn scope: before the next head that is not indented deeper."""
    line_start = data.rfind(b"\n", 0, scope.start) + 1
    margin = _measure_indentation(data[line_start : _find_line_end(data, scope.start)])
    body = scope.name_end if scope.body_start >= scope.end else scope.body_start
    end = body = _find_line_end(data, body)
    for start, after in _split_lines(data, body + 1, scope.end):
        line = data[start:after]
        if not (stripped := line.strip()):
            continue
        if _measure_indentation(line) <= margin and not stripped.startswith((*_CLOSING, b"{")):
            if end == body:  # the body is not indented at all
                return scope.end
            if _HEAD.match(line):
                return end
        end = after
    return scope.end


def _split_lines(data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        after = _find_line_end(data, start)
        yield start, after
        start = after + 1


def _find_line_end(data: bytes, byte: int) -> int:
    end = data.find(b"\n", byte)
    return len(data) if end < 0 else end


def _measure_indentation(line: bytes) -> int:
    return len(line) - len(line.lstrip())
