"""Tree: the outline of a source file, from its syntax tree and its language's queries.

Every grammar has texts that take it quadratic time, and the library cannot be interrupted: its
progress callbacks crash. But it reads its input through our function, which can end the input
early, and the tree is examined before queries run on it. Texts that a grammar may not come
back from are known by their repetition; they are parsed in a process that can be killed.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import PurePosixPath
from zlib import compress

import tree_sitter
from tree_sitter import Node, Parser, Query, QueryCursor

from ragforge.brain.languages.language import Import, Language
from ragforge.brain.parse.names import (
    attach_uses,
    drop_locals,
    list_origins,
    list_spans,
    parse_bases,
    parse_name,
)
from ragforge.brain.parse.outline import MAX_SIGNATURE_CHARS, Definition, Outline
from ragforge.brain.parse.scopes import find_scopes, nest, recover
from ragforge.brain.parse.source import (
    TYPES_WITH_METHODS,
    Leads,
    ScopeDraft,
    SourceText,
    Stretch,
    list_stretches,
    read_string,
)
from ragforge.domain.code import SMALL

SECONDS = 1.0
SECONDS_PER_BYTE = 10e-6
"""Code takes a tenth of that. CPU time of this thread is measured: how busy the machine is does not
matter."""
PIECE = 1_024
"""How many bytes the parser gets at once; between them it is asked for the time."""
DEEPEST_USE = 20_000
"""In nodes of the tree. Names below it are left out: a query may take quadratic time to find them,
and it cannot be interrupted."""

_MAX_IN_ERROR = 20_000
"""A query takes quadratic time in the parts of an error, which are one flat list."""
_SAMPLES = 32

_WINDOW = 1_024
_MAX_REPETITION = 20
"""How much smaller a part may become. Of code it is less than 5, of lists of numbers more."""
_NO_SIGNS = bytes(c for c in range(256) if c <= 32 or c > 126 or c == 95 or chr(c).isalnum())
# Unfinished matches in a deeply nested tree would take quadratic time.
_MATCH_LIMIT = 1024
_DEEPEST_DEFINITION = 500
"""In nodes of the tree. Definitions below it would be dropped, and finding them takes quadratic
time in some languages."""
_SIGNATURE_BYTES = 4 * MAX_SIGNATURE_CHARS  # much of it may be white space
_SELF = frozenset(("self", "this"))
_PROMOTED = frozenset(("property_promotion_parameter", "class_parameter"))
_PROMOTING = frozenset(("accessibility_modifier", "override_modifier", "readonly"))
"""Parameters of constructors that are fields too."""
_CALLABLE = frozenset(("function", "method"))
_BEFORE_BODY = re.compile(r"\s*(?:=>|[:={;]|\bdo|\bthen|\bwhere)$")

_BETWEEN_DECORATORS = b" \t\r\n,#[]"
_DECORATOR = re.compile(r"[\s@#\[!(]*([\w$.:\\]+)")


class TooCostly(Exception):
    """A file has used up its allowance."""


class Allowance:
    """The CPU time that is left for a file."""

    def __init__(self, size: int) -> None:
        self._end = time.thread_time() + SECONDS + size * SECONDS_PER_BYTE

    def check(self) -> None:
        """Raise TooCostly if it is used up."""
        if time.thread_time() > self._end:
            raise TooCostly

    def make_reader(self, data: bytes) -> Callable[[int, object], bytes]:
        """Return the function through which a parser reads; it ends the input early.

        The caller checks after parsing.
        """

        def read(start: int, _: object) -> bytes:
            is_late = time.thread_time() > self._end
            return b"" if is_late else data[start : start + PIECE]

        return read


def is_repetitive(data: bytes) -> bool:
    """Tell whether a part of a text repeats one pattern of signs, whatever its words are.

    A few thousand bytes of it take some grammars minutes, or gigabytes, without a read between.
    """
    signs = data.translate(None, _NO_SIGNS)
    return any(
        len(compress(signs[start : start + _WINDOW], 1)) < _WINDOW // _MAX_REPETITION
        for start in range(0, len(signs) - _WINDOW + 1, _WINDOW)
    )


def measure_depth(top: Node) -> int:
    """Return about how deep a tree is. Raises TooCostly if most of it is the parts of an error.

    A few nodes are sampled: what takes quadratic time is a large part of its tree.
    """
    cursor, count, deepest = top.walk(), top.descendant_count, 0
    for number in range(_SAMPLES):
        cursor.goto_descendant(count * number // _SAMPLES)
        deepest = max(deepest, cursor.depth)
        cursor.goto_parent()
        node = cursor.node
        if node is not None and node.is_error and node.child_count > _MAX_IN_ERROR:
            raise TooCostly
    return deepest


def outline_tree(language: Language, path: str, text: str) -> Outline:
    """Return the outline of a source file. Code around syntax errors is kept.

    Raises TooCostly for a text that would take far more time than code does.
    """
    source = SourceText(text, language.blanked)
    if not source.data.strip(b"\xef\xbb\xbf \t\r\n\f\v"):
        return Outline(language.name, ())
    grammar, definitions, uses = _compile(language)
    allowance = Allowance(len(source.data))
    top, depth = _parse(language, grammar, source, allowance)
    cursor = QueryCursor(definitions, match_limit=_MATCH_LIMIT)
    cursor.set_max_start_depth(_DEEPEST_DEFINITION)
    matches = cursor.matches(top)
    cursor = QueryCursor(uses, match_limit=_MATCH_LIMIT)
    cursor.set_max_start_depth(DEEPEST_USE)
    captures = cursor.captures(top)
    allowance.check()

    stem = PurePosixPath(path).stem
    root = ScopeDraft("module", stem, 0, len(source.data), 0, 0, 0, 0, qualified_name=stem)
    leads = Leads(source, captures.get("comment", []), captures.get("lead", []))
    found = find_scopes(language, source, matches)
    if top.has_error:
        found = recover(source, top, _find_errors(language, top), found, allowance.check)
    scopes = nest(language, root, found, leads)
    stretches = list_stretches(root, [scope for scope in scopes if scope.type not in SMALL])
    attach_marks(source, stretches, captures)
    if not root.documented:
        root.docstring = leads.read_file_comment()
    statements = _keep_outermost([match["import"][0] for _, match in matches if "import" in match])
    skipped = [*list_spans(statements), *((scope.name_start, -scope.name_end) for scope in found)]
    attach_uses(language, source, stretches, captures, skipped)
    drop_locals(root, scopes)
    inner = (_build_definition(source, scope, root, language) for scope in scopes)
    return Outline(
        language.name,
        (_build_module(source, root), *inner),
        _read_imports(language, source, statements),
        top.has_error,
        "depth" if depth > DEEPEST_USE else None,
    )


def _parse(
    language: Language, grammar: tree_sitter.Language, source: SourceText, allowance: Allowance
) -> tuple[Node, int]:
    """Return the tree of a file, and its depth.

    A damaged one is simplified if that gives fewer errors.
    """
    top, depth = _read_tree(grammar, source.data, allowance)
    if not top.has_error or language.simplify is None:
        return top, depth
    simpler = language.simplify(source.data)
    second, its_depth = _read_tree(grammar, simpler, allowance)
    if _measure_damage(language, second) >= _measure_damage(language, top):
        return top, depth
    source.data = simpler
    return second, its_depth


def _read_tree(
    grammar: tree_sitter.Language, data: bytes, allowance: Allowance
) -> tuple[Node, int]:
    top = Parser(grammar).parse(allowance.make_reader(data)).root_node
    allowance.check()
    return top, measure_depth(top)


def _measure_damage(language: Language, top: Node) -> int:
    return sum(node.end_byte - node.start_byte + 1 for node in _find_errors(language, top))


def _find_errors(language: Language, top: Node) -> list[Node]:
    return QueryCursor(_compile_error_query(language)).captures(top).get("error", [])


@cache
def _compile_error_query(language: Language) -> Query:
    return Query(_compile(language)[0], "[(ERROR) (MISSING)] @error")


@cache
def _compile(language: Language) -> tuple[tree_sitter.Language, Query, Query]:
    """Return a language's grammar and queries, loaded when its first file is met."""
    module, function = language.grammar.split(":")
    grammar = tree_sitter.Language(getattr(import_module(module), function)())
    return grammar, Query(grammar, language.definitions), Query(grammar, language.uses)


def _keep_outermost(nodes: list[Node]) -> list[Node]:
    """Return the nodes that are not part of another one, in order."""
    kept: list[Node] = []
    for node in sorted(nodes, key=lambda node: (node.start_byte, -node.end_byte)):
        if not kept or node.start_byte >= kept[-1].end_byte:
            kept.append(node)
    return kept


def _read_imports(
    language: Language, source: SourceText, statements: list[Node]
) -> tuple[Import, ...]:
    return tuple(
        found
        for node in statements
        for found in language.read_imports(
            source.get_text(*node.byte_range), source.find_line(node.start_byte)
        )
    )


def _build_module(source: SourceText, root: ScopeDraft) -> Definition:
    return Definition(
        name=root.name,
        qualified_name=root.name,
        type=root.type,
        start_line=1,
        end_line=source.line_count,
        docstring=root.docstring,
        calls=tuple(root.calls),
        uses=tuple(root.uses),
        origins=_list_origins(root, root),
    )


def _list_origins(scope: ScopeDraft, root: ScopeDraft) -> tuple[tuple[str, str], ...]:
    """Return the known origins of a scope, and those that hide one of a scope around it."""
    outer = set(root.origins)
    around = scope.around
    while around is not None:
        outer.update(around.origins)
        around = around.around
    return tuple(
        (name, origin) for name, origin in scope.origins.items() if origin or name in outer
    )


def _build_definition(
    source: SourceText, scope: ScopeDraft, root: ScopeDraft, language: Language
) -> Definition:
    return Definition(
        name=scope.name,
        qualified_name=scope.qualified_name,
        type=scope.type,
        start_line=source.find_line(scope.start),
        end_line=source.find_last_line(scope.end, scope.start),
        signature=_read_signature(source, scope, language),
        docstring=scope.docstring,
        parent=scope.parent.index if scope.parent else None,
        bases=scope.bases,
        calls=tuple(scope.calls),
        uses=tuple(scope.uses),
        decorators=tuple(scope.decorators),
        origins=_list_origins(scope, root),
    )


def _read_signature(source: SourceText, scope: ScopeDraft, language: Language) -> str:
    """Return a definition up to its body. Where files are included, a declaration keeps its `;`.

    So a search can put the function that has a body before those that only announce it.
    """
    if scope.type in SMALL:
        return " ".join(source.get_line(scope.name_start).split())[:MAX_SIGNATURE_CHARS]
    start = scope.signature_start
    text = source.get_text(start, min(scope.body_start, start + _SIGNATURE_BYTES))
    line = " ".join(text.split())
    declared = language.names.includes and scope.type in _CALLABLE and line.endswith(";")
    signature = _BEFORE_BODY.sub("", line)
    return (
        f"{signature[: MAX_SIGNATURE_CHARS - 1]};" if declared else signature[:MAX_SIGNATURE_CHARS]
    )


def attach_marks(
    source: SourceText, stretches: Sequence[Stretch], captures: Mapping[str, list[Node]]
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
    for node in _sort_nodes(captures.get("typed")):
        for name, origin in list_origins(node):
            scope = find_innermost(node.start_byte)
            if scope.type == "constant":
                scope = scope.around or stretches[0][1]
            _add_origin(scope, node, name, origin)


def _add_origin(scope: ScopeDraft, node: Node, name: str, origin: str) -> None:
    """Add what a name is bound to: `self.repo` to the type around the method."""
    head, _, field = name.partition(".")
    if field or node.type in _PROMOTED or any(child.type in _PROMOTING for child in node.children):
        owner: ScopeDraft | None = scope
        while owner is not None and owner.type not in TYPES_WITH_METHODS:
            owner = owner.around
        if owner is not None and "." not in field and (not field or head in _SELF):
            _put_origin(owner, field or name, scope.origins.get(origin, origin))
    if not field:
        _put_origin(scope, name, origin)


def _put_origin(scope: ScopeDraft, name: str, origin: str) -> None:
    known = scope.origins.setdefault(name, origin)
    scope.declared[name] = scope.declared.get(name, 0) + 1
    if known != origin:
        scope.origins[name] = ""  # it can be either


def _sort_nodes(nodes: list[Node] | None) -> list[Node]:
    """Return nodes by position: a query yields them pattern by pattern."""
    return sorted(nodes or (), key=lambda node: node.start_byte)


def _add_bases(source: SourceText, scope: ScopeDraft, node: Node) -> None:
    names = parse_bases(source.get_text(*node.byte_range))
    scope.bases = tuple(dict.fromkeys((*scope.bases, *names)))
    scope.header_end = max(scope.header_end, node.end_byte)


def _add_decorator(source: SourceText, scope: ScopeDraft, node: Node) -> None:
    if match := _DECORATOR.match(source.get_text(*node.byte_range)):
        scope.decorators.append(parse_name(match.group(1))[0])
    scope.header_end = max(scope.header_end, node.end_byte)
    skipped = source.data[scope.signature_start : node.start_byte]
    if node.start_byte >= scope.signature_start and not skipped.strip(_BETWEEN_DECORATORS):
        start = node.end_byte
        while start < scope.name_start and source.data[start] in _BETWEEN_DECORATORS:
            start += 1
        scope.signature_start = start
