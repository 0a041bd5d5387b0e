"""Names: which dotted names each scope uses, and where the source says what a variable is.

An origin is a written type, `:Repo`, or the expression that the first value comes from, with `()`
behind what is called: `Repo()`, `self.repo`, `Builder.new().build()`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from tree_sitter import Node

from ragforge.brain.languages.language import Language
from ragforge.brain.parse.source import FUNCTIONS, ScopeDraft, SourceText, Stretch

MAX_CHARS = 300
"""A longer chain says too little about its value."""
MAX_VALUE_CHARS = 4_000
"""Most of a long expression are the arguments of its calls."""

_BRACKETS = re.compile(r"->|=>|[<>()\[\]{}]")
_OPENING = frozenset("<([{")
_PARTNER = {">": "<", ")": "(", "]": "[", "}": "{"}
_ARROWS = frozenset(("->", "=>"))
_PREFIX = re.compile(r"^(?:await\s+|new\s+|try[!?]?\s+|&\s*mut\s+|&|\*)+")
_PREFIXES = ("await", "new", "try", "&", "*")
_TYPE_PREFIX = re.compile(
    r"^(?:(?:const|final|mut|dyn|impl|readonly|in|ref|out)\s+|'\w+\s+|[&*?])+"
)
_WRAPPER = re.compile(
    r"^(?:\w+(?:\.|::))*(?:Optional|Annotated|Final|ClassVar|Arc|Rc|Box|Promise|Awaitable|Readonly"
    r"|Partial|Required|unique_ptr|shared_ptr)\s*[<\[](.*)[>\]]$",
    re.DOTALL,
)
_EMPTY = frozenset(("None", "null", "undefined", "nil", "void"))
_NAME = r"[^\W\d]\w*"
_TYPE = re.compile(rf"\\?{_NAME}(?:(?:\.|::|\\){_NAME})*(?:\s*[<\[].*[>\]])?", re.DOTALL)
_SEPARATOR = re.compile(r"\s*(?:[?!]?\.|\?->|->|::|\\)\s*")
_GENERIC = re.compile(r"[\w:]<[\w(&]")
_MEMBER_SIGN = re.compile(r"^@@?")
_CHAIN = re.compile(rf"{_NAME}(?:\(\))?(?:\.{_NAME}[!?]?(?:\(\))?)*")
_GUESSED = frozenset(("var", "auto", "let", "val", "dynamic", "any", "Any", "object", "Object"))
_NO_NAME = frozenset(("", *"\"'`0123456789([{-+!~.,/"))
"""What an expression begins with that is more than names and calls: most literals."""
_UNWRAPPING = re.compile(
    r"\.(?:await|unwrap|expect|clone|as_ref|as_mut|to_owned|unwrap_or_default)(?:\(\))?(?=\.|$)"
)
MAX_SEGMENTS = 4
MAX_CHAIN = 30

_IDENTIFIER = r"[@$#]*\w[\w$]*(?:-\w[\w$]*)*(?:[?!'](?![.?!]))*"
_NAME_SEPARATOR = r"\s*(?:[?&]?\.|!!?\.|::|\??->|\\|:)\s*"
_PLAIN = re.compile(rf"\\?(?:::)?{_IDENTIFIER}(?:{_NAME_SEPARATOR}{_IDENTIFIER})*")
_SPLIT = re.compile(_NAME_SEPARATOR)
_LAST = re.compile(rf"{_IDENTIFIER}\Z")

_BASE_SEPARATORS = re.compile(r"[,+&;\n]|\b(?:extends|implements|with)\b")
_BASE_NAME = re.compile(rf"{_IDENTIFIER}(?:\s*(?:\.|::|\\)\s*{_IDENTIFIER})*")
_NOT_BASES = frozenset(("public", "private", "protected", "virtual", "override", "dyn", "unsafe"))

Span = tuple[int, int]  # (start, -end), so that an outer one sorts before its inner ones

_SPACE_BYTES = 60
_BEFORE_VALUE = frozenset((b"(", b",", b"=", b":", b"[", b"{"))
_AFTER_VALUE = frozenset((b")", b",", b"]", b"}", b";", b""))
_NEXT_IN_CHAIN = re.compile(
    rb"\s*(?:::<[^()]*>)?\(.*\)[?!]*(?:\s*//[^\n]*\n)*((?:\s*[?!]?\.\s*\w+)+)(?:::<[^()]*>)?\s*",
    re.DOTALL,
)
# A longer text holds more than names. Short slices keep a chain of thousands of calls, which all
# start at the same byte, linear.
_LONGEST_NAME = 200


def list_origins(node: Node) -> Iterator[tuple[str, str]]:
    """Yield the names that a node declares, as they are written, each with its origin.

    A name of which nothing is known has an empty one.
    """
    names = _find_names(node)
    kind = _find_type(node)
    origin = read_type(_decode(kind)) if kind is not None else ""
    if origin:
        yield from ((name, origin) for name in names)
        return
    values = _find_values(node)
    for number, name in enumerate(names):
        value = values[number] if len(values) == len(names) else values[0] if values else None
        shared = number and len(values) != len(names)  # the second of several that are returned
        yield name, "" if value is None or shared else read_value(_decode(value))


def read_type(text: str) -> str:
    """Return the origin that a written type is, or nothing if it names no single type."""
    text = text.strip().lstrip(":").strip().strip("\"'")
    if len(text) > MAX_CHARS:
        return ""
    text = _TYPE_PREFIX.sub("", text).rstrip("?!&* ")
    choices = [part.strip() for part in strip_brackets(text, "<[(").split("|")]
    kept = [choice for choice in choices if choice not in _EMPTY]
    if len(choices) > 1:
        return read_type(kept[0]) if len(kept) == 1 else ""
    if wrapped := _WRAPPER.match(text):
        return read_type(_split_first(wrapped[1]))
    if text in _GUESSED | _EMPTY or not _TYPE.fullmatch(text):
        return ""
    return ":" + ".".join(filter(None, _SEPARATOR.split(strip_brackets(text, "<[").strip())))


def read_value(text: str) -> str:
    """Return the origin that an expression is, or nothing if it is more than names and calls."""
    if len(text) > MAX_VALUE_CHARS:
        return ""
    text = text.strip()
    if text.isascii() and text.isidentifier() and len(text) <= MAX_CHARS:
        return text
    if text.startswith(_PREFIXES):
        text = _PREFIX.sub("", text)
    if text[:1] in _NO_NAME:
        return ""
    plain = strip_brackets(text, "<") if _GENERIC.search(text) else text
    plain = strip_brackets(plain, "(", "()").rstrip("?!")
    plain = strip_brackets(plain, "{", "{}").replace("(){}", "()").replace("{}", "()")
    plain = drop_unwrapping(_SEPARATOR.sub(".", plain)).strip()
    plain = _MEMBER_SIGN.sub("self.", plain).lstrip("$")
    return plain if len(plain) <= MAX_CHARS and _CHAIN.fullmatch(plain) else ""


def drop_unwrapping(chain: str) -> str:
    """Return a chain without calls that only give what is in a value: `.unwrap()`."""
    return _UNWRAPPING.sub("", chain)


def strip_brackets(text: str, kinds: str, mark: str = "") -> str:
    """Return the text with a mark in place of brackets of these kinds and what is in them."""
    if not any(kind in text for kind in kinds):
        return text
    kept: list[str] = []
    depth = position = 0
    for bracket in _BRACKETS.finditer(text):
        sign = bracket.group()
        if sign in _ARROWS:
            continue
        opening = sign in _OPENING
        if (sign if opening else _PARTNER[sign]) not in kinds:
            continue
        if opening:
            if depth == 0:
                kept += text[position : bracket.start()], mark
            depth += 1
        elif depth:
            depth -= 1
            position = bracket.end()
    if depth == 0:
        kept.append(text[position:])
    return "".join(kept)


def _split_first(text: str) -> str:
    """Return the first of several type arguments."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in "<[(") - (sign in ">])")
        if sign == "," and depth == 0:
            return text[:at]
    return text


def _find_names(node: Node) -> list[str]:
    found = node.children_by_field_name("name") or node.children_by_field_name("pattern")
    if not found and (left := node.child_by_field_name("left")):
        found = left.named_children if left.type.endswith("list") else [left]
    if not found and node.type == "property_declaration":  # of PHP
        found = [
            name
            for child in node.named_children
            if child.type == "property_element"
            for name in child.children_by_field_name("name")
        ]
    if not found:
        found = [child for child in node.named_children[:3] if child.type == "identifier"][:1]
    return [_read_name(_decode(one)) for one in found]


def _read_name(text: str) -> str:
    if text.isidentifier():
        return text
    return _MEMBER_SIGN.sub("self.", text.lstrip("$").replace("->", "."))


def _find_type(node: Node) -> Node | None:
    """Return the written type; in some languages it precedes several declarations."""
    kind = node.child_by_field_name("type")
    if kind is None and node.type == "variable_declarator" and node.parent is not None:
        kind = node.parent.child_by_field_name("type")
    return kind


def _find_values(node: Node) -> list[Node]:
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    if value is None:  # of C#
        last = node.named_children[-1:]
        return last if node.type == "variable_declarator" and len(node.named_children) > 1 else []
    return list(value.named_children) if value.type == "expression_list" else [value]


def _decode(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def parse_name(text: str, segments: int | None = MAX_SEGMENTS) -> tuple[str, bool]:
    """Return the last parts of a name joined by dots, and whether all of it is a plain name.

    It is not if a part is computed: of `make(x).save` only `save` is returned.
    """
    if text.isidentifier():  # by far the most frequent
        return text, True
    if "<" in text:
        text = strip_brackets(text.replace("::<", "<"), "<")
    if _PLAIN.fullmatch(text):
        parts = [part for part in _SPLIT.split(text) if part]
        return ".".join(parts if segments is None else parts[-segments:]), True
    last = _LAST.search(text.rstrip())
    return (last.group() if last else ""), False


def parse_bases(text: str) -> tuple[str, ...]:
    """Return the names in a list of base types, without type arguments."""
    found: dict[str, None] = {}
    text = text.strip()
    text = text[1:-1] if text.startswith("(") else text
    for part in _BASE_SEPARATORS.split(strip_brackets(text, "<([{")):
        if "=" in part:  # a keyword argument
            continue
        before_delegate = part.strip(" \t\r\n:<").split(" by ")[0]
        names = [name for name in _BASE_NAME.findall(before_delegate) if name not in _NOT_BASES]
        if names:
            found[".".join(_SPLIT.split(names[0]))] = None
    return tuple(found)


def list_spans(nodes: Iterable[Node]) -> list[Span]:
    """Return the ranges of nodes."""
    return [(node.start_byte, -node.end_byte) for node in nodes]


def list_invocation_spans(nodes: Iterable[Node], name_field: str) -> list[Span]:
    """Return the ranges of calls from their start to the end of the called name."""
    return [
        (node.start_byte, -name.end_byte)
        for node in nodes
        if (name := node.child_by_field_name(name_field))
    ]


def attach_uses(
    language: Language,
    source: SourceText,
    stretches: Sequence[Stretch],
    captures: Mapping[str, list[Node]],
    skipped: Iterable[Span],
) -> None:
    """Attach every used name to the innermost scope around it.

    This loop runs for each identifier of a project: it is flat and local on purpose.
    """
    uses = list_spans(captures.get("use", ()))
    called = list_spans(captures.get("call", ()))
    called += list_invocation_spans(captures.get("invocation", ()), language.invocation_name)
    local = list_spans(captures.get("local", ()))
    hidden = [*list_spans(captures.get("skip", ())), *skipped]
    calls, bound, opaque = set(called), set(local), set(hidden)
    data = source.data
    sigils, bare_calls = language.sigils, language.bare_calls
    gives_functions = language.function_values
    scope = stretches[0][1]
    chains = _read_long_chains(data, called, sigils)
    coming = iter((*stretches, (len(data) + 1, scope)))
    following_start, following = next(coming)
    covered = 0  # names before this byte are part of a longer name, or skipped
    # Duplicates do no harm. Each list is already sorted, so this merges them.
    for span in sorted([*uses, *called, *local, *hidden]):
        start, end = span[0], -span[1]
        if start < covered:
            continue
        if span in opaque:
            covered = end
            continue
        while following_start <= start:
            scope, (following_start, following) = following, next(coming)
        fits = end - start <= _LONGEST_NAME
        text = data[start if fits else end - _LONGEST_NAME : end]
        name, whole, plain_bytes = _read(text, sigils)
        if whole and fits:
            covered = start + plain_bytes
            if span in bound:
                scope.locals[name] = scope.locals.get(name, 0) + 1
                continue
        elif span in chains:
            name = chains[span]
        if not name:
            continue
        if covered < end:
            opaque.add((end - len(name.rpartition(".")[2].encode()), -end))
        if start < scope.header_end and (name in scope.bases or name in scope.decorators):
            continue
        is_call = span in calls or (gives_functions and _is_value(data, start, end, name))
        if bare_calls:
            head = name.partition(".")[0]
            is_call = is_call or head == name
            if head.isidentifier() and head[:1].islower():
                scope.calls[head] = None
        (scope.calls if is_call else scope.uses)[name] = None


def _is_value(data: bytes, start: int, end: int, name: str) -> bool:
    """Tell whether a name is an argument, an element or what is assigned or returned."""
    if not name.isidentifier() or not name.lstrip("_")[:1].islower():
        return False
    following = data[end : end + _SPACE_BYTES]
    after = following.lstrip()
    if after[:1] not in _AFTER_VALUE and b"\n" not in following[: -len(after)]:
        return False
    before = data[max(0, start - _SPACE_BYTES) : start].rstrip()
    return before[-1:] in _BEFORE_VALUE or before.endswith(b"return")


def _read_long_chains(data: bytes, called: Iterable[Span], sigils: str) -> dict[Span, str]:
    """Return the chains of calls that are too long to be read at once: `new(…).add(…).add(…)`.

    Each call is read from the end of the one in it, so that every byte is read once.
    """
    starts = {start for start, end in called if -end - start > _LONGEST_NAME}
    chains: dict[Span, str] = {}
    if not starts:
        return chains
    before: dict[int, tuple[int, str]] = {}  # where the call within ends, and its chain
    for span in sorted((one for one in called if one[0] in starts), reverse=True):
        start, end = span[0], -span[1]
        if start not in before:
            short = end - start <= _LONGEST_NAME
            before[start] = (end, _read(data[start:end], sigils)[0] if short else ".")
            continue
        inner_end, inner = before[start]
        found = _NEXT_IN_CHAIN.fullmatch(data, inner_end, end)
        chain = ""
        if found and not inner.startswith(".") and inner.count(".") < MAX_CHAIN:
            rest = "".join(found[1].decode("utf-8", "replace").replace("?", "").split())
            chain = f"{drop_unwrapping(f'{inner}()')}{rest.replace('!', '')}"
            chains[span] = chain
        before[start] = (end, chain or ".")
    return chains


@lru_cache(1 << 16)
def _read(text: bytes, sigils: str) -> tuple[str, bool, int]:
    """Return the name in a text, whether it is all of it, and where type arguments start."""
    name, whole = parse_name(text.decode("utf-8", "replace"))
    name = name.lstrip(sigils) if sigils else name
    if name.lstrip("$")[:1].isdigit():  # `$0`: an argument without a name
        name = ""
    if name and not whole:
        # A member of a computed value: `f(x).save` is not any `save`.
        chain = read_value(text.decode("utf-8", "replace")) if len(text) < _LONGEST_NAME else ""
        is_known = chain.endswith(f".{name}") and chain.count(".") <= MAX_CHAIN
        name = chain if is_known else f".{name}"
    arguments = text.find(b"<")
    return name, whole, arguments if arguments > 0 else len(text)


def drop_locals(root: ScopeDraft, scopes: list[ScopeDraft]) -> None:
    """Remove uses of names that are bound in a scope or in a function around it.

    A variable that is also bound in another way keeps no origin, and hides that of an outer one.
    """
    for scope in (root, *scopes):
        for name, count in scope.locals.items():
            if count > scope.declared.get(name, 0):
                scope.origins[name] = ""
        around = scope.around
        if around is not None and around.type in FUNCTIONS and around.locals:
            scope.locals = {**around.locals, **scope.locals}
        if scope.locals:
            for names in (scope.calls, scope.uses):
                for name in scope.locals.keys() & names.keys():
                    del names[name]
