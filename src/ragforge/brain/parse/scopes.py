"""Scopes: the definitions in a syntax tree, nested as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tree_sitter import Node

from ragforge.brain.languages.language import Language
from ragforge.brain.parse.leading_comments import Leads
from ragforge.brain.parse.names import parse_name
from ragforge.brain.parse.source import FUNCTIONS, TYPES_WITH_METHODS, ScopeDraft, SourceText

Captures = dict[str, list[Node]]

_DEFINITION = "definition."
_CAPITALS = re.compile(r"_*[A-Z][A-Z0-9_]+")
_WEIGHTY_LINES = 3
_QUOTES_AND_SPACE = "\"' \t\r\n"
_MAX_NAME_CHARS = 80
_MAX_NAME_BYTES = 500
# Names hold those of all scopes around them: without limits they grow with the square of the depth.
MAX_DEPTH = 32
MAX_QUALIFIED_CHARS = 1_000
# A method may be written outside of its type; JavaScript's constructors are functions.
_OWNERS = TYPES_WITH_METHODS | {"type", "function"}


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
