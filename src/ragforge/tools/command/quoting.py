"""Quoting: what quotes and backslashes make of a word, and what may stand without them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ragforge.tools.command.plan import NotAllowed

_BRACES = re.compile(r"\{[^{},]*\}")
_HISTORY = re.compile(r"![^=*.\0]")
_NEVER_BARE = frozenset("$`\"'<>|&;()\n\r\t ")
_ESCAPED_IN_STRINGS = frozenset('$`"\\')
_STARTS_EXPANSION = re.compile(r"[A-Za-z0-9_({\[$!#?@*\-'`]")


def unescape(source: str) -> tuple[str, str]:
    """Take the backslashes out of an unquoted word."""
    if "\\" not in source:
        return source, source
    text, bare = [], []
    characters = iter(source)
    for character in characters:
        if character == "\\":
            escaped = next(characters, None)
            if escaped is None or escaped == "\n":
                raise NotAllowed("it ends in a backslash")
            text.append(escaped)
            bare.append("\0")
        else:
            text.append(character)
            bare.append(character)
    return "".join(text), "".join(bare)


def unescape_string(source: str) -> str:
    """Take the backslashes out of a double-quoted string without expansions."""
    text = []
    position = 0
    while position < len(source):
        character = source[position]
        following = source[position + 1 : position + 2]
        if character == "\\" and following in _ESCAPED_IN_STRINGS and following:
            text.append(following)
            position += 2
            continue
        if character == "`":
            raise NotAllowed("it has a command substitution")
        if character == "$" and _STARTS_EXPANSION.match(following):
            raise NotAllowed("it expands a variable")
        text.append(character)
        position += 1
    return "".join(text)


def check_bare(bare: str) -> None:
    """Refuse unquoted characters that a shell would do something with."""
    if bare.startswith("~"):
        raise NotAllowed("it starts a word with ~, which is outside the project")
    if bare.startswith("#"):
        raise NotAllowed("it has a comment")
    if _HISTORY.match(bare):
        raise NotAllowed("it has an unquoted ! at the start of a word; quote it")
    if not _NEVER_BARE.isdisjoint(bare):
        raise NotAllowed("it has an unquoted special character; quote it")
    if "{" in bare or "}" in bare:
        simple = _BRACES.sub(lambda found: "{" if ".." in found[0] else "", bare)
        if "{" in simple or "}" in simple:
            raise NotAllowed("it has a brace expansion")


def make_glob(pieces: Iterable[tuple[str, str]]) -> str:
    """Return the word as a pattern in which quoted characters are escaped."""
    out = []
    for text, bare in pieces:
        for character, mark in zip(text, bare, strict=True):
            quoted = mark == "\0" and character != "\0"
            out.append(f"\\{character}" if quoted and character in "*?[]\\!-^" else character)
    return "".join(out)
