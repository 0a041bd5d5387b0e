"""Scopes: the definitions in a syntax tree, nested as they are written.

Most syntax errors cost one statement. After some, such as a brace that is never closed, the grammar
takes all that follows for a part of the broken definition, or gives up. There the heads of
definitions are recognised by keywords, and their ends by indentation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from tree_sitter import Node

from ragforge.brain.languages.language import Language
from ragforge.brain.parse.names import parse_name
from ragforge.brain.parse.source import FUNCTIONS, TYPES_WITH_METHODS, Leads, ScopeDraft, SourceText

Captures = dict[str, list[Node]]

_DEFINITION = "definition."
_CAPITALS = re.compile(r"_*[A-Z][A-Z0-9_]+")
_WEIGHTY_LINES = 3
_QUOTES_AND_SPACE = "\"': \t\r\n"
_MAX_NAME_CHARS = 80
_MAX_NAME_BYTES = 500
# Names hold those of all scopes around them: without limits they grow with the square of the depth.
MAX_DEPTH = 32
MAX_QUALIFIED_CHARS = 1_000
# A method may be written outside of its type; JavaScript's constructors are functions.
_OWNERS = TYPES_WITH_METHODS | {"type", "function"}


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
_NAME_GROUPS = ("name", "method", "open")
_TYPES = {"fun": "function", "func": "function", "fn": "function", "def": "function"}
_TYPES |= {"protocol": "interface", "": "function"}
_CLOSING = (b"}", b")", b"]", b"end")
_TEXT = ("comment", "string", "heredoc", "template")


def find_scopes(
    language: Language, source: SourceText, matches: Iterable[tuple[int, Captures]]
) -> list[ScopeDraft]:
    """Return the scopes from the matches of a language's definition query."""
    found: dict[int, tuple[int, str, Node, Captures]] = {}
    wraps: dict[int, Node] = {}
    same: set[int] = set()
    for pattern, captures in matches:
        if "wrap" in captures:
            wraps[captures["inner"][0].id] = captures["wrap"][0]
            continue
        for capture, nodes in captures.items():
            if capture == "same":
                same.add(nodes[0].id)
            elif capture.startswith(_DEFINITION):
                known = found.get(nodes[0].id)
                if known is None or pattern < known[0]:
                    type_ = capture.removeprefix(_DEFINITION)
                    found[nodes[0].id] = (pattern, type_, nodes[0], captures)
    scopes = [
        scope
        for key, (_, type_, node, captures) in found.items()
        if key not in same
        and (scope := _build_scope(language, source, type_, node, captures, wraps))
    ]
    _stretch_open_namespaces(scopes, len(source.data))
    return scopes


def _build_scope(
    language: Language,
    source: SourceText,
    type_: str,
    node: Node,
    captures: Captures,
    wraps: dict[int, Node],
) -> ScopeDraft | None:
    name_node = captures["name"][0] if "name" in captures else language.find_name(node)
    if name_node is None:
        return None
    start, end = name_node.byte_range
    owner, name = _split_name(type_, source.get_text(start, min(end, start + _MAX_NAME_BYTES)))
    outer = node
    while outer.id in wraps:
        outer = wraps[outer.id]
    if not name or (type_ == "constant" and not _is_weighty(name, outer)):
        return None
    body = captures["body"][0] if "body" in captures else _find_body(node)
    if "owner" in captures:
        owner, _ = parse_name(source.get_text(*captures["owner"][0].byte_range))
    return ScopeDraft(
        type=type_,
        name=name,
        start=outer.start_byte,
        end=outer.end_byte,
        name_start=name_node.start_byte,
        name_end=name_node.end_byte,
        body_start=body.start_byte if body else outer.end_byte,
        signature_start=outer.start_byte,
        owner=owner,
        torn=outer.has_error,
    )


def _split_name(type_: str, text: str) -> tuple[str, str]:
    """Return a definition's owner and name. The names of operators are kept as they are."""
    name, whole = parse_name(text.strip(_QUOTES_AND_SPACE), segments=None)
    separator = "."
    if not whole:
        name = " ".join(text.strip(_QUOTES_AND_SPACE).split())[:_MAX_NAME_CHARS]
        separator = "::"
    if type_ not in FUNCTIONS:
        return "", name
    owner, _, last = name.rpartition(separator)
    return owner.replace("::", "."), last


def _find_body(node: Node) -> Node | None:
    if body := node.child_by_field_name("body"):
        return body
    last = node.named_child(node.named_child_count - 1) if node.named_child_count else None
    return last if last is not None and last.type.endswith(("body", "block")) else None


def _is_weighty(name: str, node: Node) -> bool:
    rows = node.end_point[0] - node.start_point[0] + 1
    return rows >= _WEIGHTY_LINES or bool(_CAPITALS.fullmatch(name))


def _stretch_open_namespaces(scopes: list[ScopeDraft], end: int) -> None:
    """Extend each `namespace x;` to the next one, or to the end of the file."""
    for scope in sorted(scopes, key=lambda scope: -scope.start):
        if scope.type == "namespace" and scope.body_start == scope.end:
            scope.end, end = end, scope.start


def nest(
    language: Language, root: ScopeDraft, scopes: list[ScopeDraft], leads: Leads
) -> list[ScopeDraft]:
    """Return the scopes with their parents, leads and qualified names.

    What is nested too deeply is a part of the scope around it.
    """
    stack: list[ScopeDraft] = []
    kept: list[ScopeDraft] = []
    for scope in sorted(scopes, key=lambda scope: (scope.start, -scope.end)):
        while stack and stack[-1].end <= scope.start:
            stack.pop()
        around = stack[-1] if stack else root
        scope.end = min(scope.end, around.end)  # recovered ones may reach too far
        before = around.latest
        if (
            language.joins_clauses
            and before is not None
            and before.type in FUNCTIONS
            and before.name == scope.name
        ):
            before.end = around.filled = scope.end
            stack.append(before)
            continue
        names = (around.qualified_name if stack else "", scope.owner, scope.name)
        scope.qualified_name = ".".join(filter(None, names))
        if len(stack) >= MAX_DEPTH or len(scope.qualified_name) > MAX_QUALIFIED_CHARS:
            continue
        kept.append(scope)
        scope.index = len(kept)
        around.latest = scope
        if stack:
            scope.around = scope.parent = around
        floor = max(around.start, around.filled)
        scope.start, scope.docstring = leads.find_above(scope.start, floor)
        around.filled = scope.end
        if stack and scope.type == "function" and around.type in TYPES_WITH_METHODS:
            scope.type = "method"
        stack.append(scope)
    _adopt(kept)
    for scope in (root, *kept):
        scope.latest = None  # no cycles are left for the garbage collector
    return kept


def _adopt(scopes: list[ScopeDraft]) -> None:
    """Set the type as the parent of methods that are written outside of it."""
    owners = {scope.qualified_name: scope for scope in reversed(scopes) if scope.type in _OWNERS}
    for scope in scopes:
        owner = owners.get(scope.qualified_name.rpartition(".")[0]) if scope.owner else None
        if owner is not None:
            scope.parent = owner
            if scope.type == "function" and owner.type != "function":
                scope.type = "method"


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
        for name in _NAME_GROUPS
        if head.group(name) and head.start(name) not in known
    )
    lost = []
    for head, name in islice(heads, _MAX_LOST):
        check_time()
        if not _is_text(top, head.start(name)):
            lost.append(_build_lost_scope(source, head, name))
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


def _build_lost_scope(source: SourceText, head: re.Match[bytes], name: str) -> ScopeDraft:
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
