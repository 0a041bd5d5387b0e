"""Names: dotted names from source text, for the separators of all languages."""

from __future__ import annotations

import re

MAX_SEGMENTS = 4

_IDENTIFIER = r"[@$#]*\w[\w$]*(?:-\w[\w$]*)*(?:[?!'](?![.?!]))*"
_SEPARATOR = r"\s*(?:[?&]?\.|!!?\.|::|\??->|\\|:)\s*"
_PLAIN = re.compile(rf"\\?(?:::)?{_IDENTIFIER}(?:{_SEPARATOR}{_IDENTIFIER})*")
_SPLIT = re.compile(_SEPARATOR)
_LAST = re.compile(rf"{_IDENTIFIER}\Z")

_BRACKETS = re.compile(r"->|=>|[<>()\[\]{}]")
_OPENING = frozenset("<([{")
_PARTNER = {">": "<", ")": "(", "]": "[", "}": "{"}
_ARROWS = frozenset(("->", "=>"))
_BASE_SEPARATORS = re.compile(r"[,+&;\n]|\b(?:extends|implements|with)\b")
_BASE_NAME = re.compile(rf"{_IDENTIFIER}(?:\s*(?:\.|::|\\)\s*{_IDENTIFIER})*")
_NOT_BASES = frozenset(("public", "private", "protected", "virtual", "override", "dyn", "unsafe"))


def parse_name(text: str, segments: int | None = MAX_SEGMENTS) -> tuple[str, bool]:
    """Return the last parts of a name joined by dots, and whether all of it is a plain name.

    It is not if a part is computed: of `make(x).save` only `save` is returned.
    """
    if text.isidentifier():  # by far the most frequent
        return text, True
    if "<" in text:
        text = _strip_brackets(text.replace("::<", "<"), "<")
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
    for part in _BASE_SEPARATORS.split(_strip_brackets(text, "<([{")):
        if "=" in part:  # a keyword argument
            continue
        before_delegate = part.strip(" \t\r\n:<").split(" by ")[0]
        names = [name for name in _BASE_NAME.findall(before_delegate) if name not in _NOT_BASES]
        if names:
            found[".".join(_SPLIT.split(names[0]))] = None
    return tuple(found)


def _strip_brackets(text: str, kinds: str) -> str:
    """Return the text without brackets of these kinds and what is in them."""
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
                kept.append(text[position : bracket.start()])
            depth += 1
        elif depth:
            depth -= 1
            position = bracket.end()
    if depth == 0:
        kept.append(text[position:])
    return "".join(kept)
