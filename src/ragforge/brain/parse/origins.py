"""Origins: where the source says what a variable, parameter or field is.

An origin is a written type, `:Repo`, or the expression that the first value comes from, with `()`
behind what is called: `Repo()`, `self.repo`, `Builder.new().build()`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

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
