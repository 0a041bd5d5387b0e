"""JSON text: parse it with comments and trailing commas, and edit it without touching the rest.

The places make it possible to change one value and to leave every other byte as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import field
from typing import Any, TypeAlias

from ragforge.errors import InputError
from ragforge.records import dataclass

MAX_LEVELS = 200
_BLANK = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\r\n]|\\.)*"')
_SCALAR = re.compile(r"[-+.\w]+")


@dataclass(slots=True)
class Node:
    """A value and where it is in the text."""

    start: int
    end: int
    value: Any
    members: dict[str, Member] = field(default_factory=dict)  # of an object
    items: list[Node] = field(default_factory=list)  # of an array
    commas: list[int] = field(default_factory=list)  # one after each element; the last may lack

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Where each element begins and ends."""
        if self.members:
            return [(one.start, one.node.end) for one in self.members.values()]
        return [(item.start, item.end) for item in self.items]


@dataclass(frozen=True, slots=True)
class Member:
    """A key of an object with its value."""

    start: int
    node: Node


def parse(text: str) -> Node:
    """Return the value of a text. Raises InputError that says where it is broken."""
    reader = _Reader(text)
    node = reader.read_value(reader.skip(0), 0)
    end = reader.skip(node.end)
    if end != len(text):
        raise reader.fail(end, "there is more after its end")
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def skip(self, at: int) -> int:
        """Return where something other than blanks and comments begins."""
        match = _BLANK.match(self.text, at)
        return match.end() if match else at

    def fail(self, at: int, why: str) -> InputError:
        return InputError(f"line {self.text.count(chr(10), 0, at) + 1}: {why}")

    def read_value(self, at: int, level: int) -> Node:
        if level > MAX_LEVELS:
            raise self.fail(at, "it is nested too deeply")
        char = self.text[at : at + 1]
        if char == "{":
            return self._read_elements(at, "}", level)
        if char == "[":
            return self._read_elements(at, "]", level)
        if char == '"':
            return self._read_string(at)
        match = _SCALAR.match(self.text, at)
        try:
            if match is None:
                raise ValueError
            return Node(at, match.end(), json.loads(match[0]))
        except ValueError:
            raise self.fail(at, "a value is missing or not valid") from None

    def _read_string(self, at: int) -> Node:
        match = _STRING.match(self.text, at)
        try:
            if match is None:
                raise ValueError
            return Node(at, match.end(), json.loads(match[0], strict=False))
        except ValueError:
            raise self.fail(at, "a string is not valid") from None

    def _read_elements(self, start: int, close: str, level: int) -> Node:
        """Read an object or an array."""
        node = Node(start, start, {} if close == "}" else [])
        at = self.skip(start + 1)
        count = 0
        while self.text[at : at + 1] != close:
            if count > len(node.commas):
                raise self.fail(at, "a comma or a closing bracket is missing")
            if close == "}":
                key = self._read_string(at)
                colon = self.skip(key.end)
                if self.text[colon : colon + 1] != ":":
                    raise self.fail(colon, "a colon is missing")
                if key.value in node.members:
                    raise self.fail(at, f"{key.value!r} is there twice")
                child = self.read_value(self.skip(colon + 1), level + 1)
                node.members[key.value] = Member(at, child)
                node.value[key.value] = child.value
            else:
                child = self.read_value(at, level + 1)
                node.items.append(child)
                node.value.append(child.value)
            count += 1
            at = self.skip(child.end)
            if self.text[at : at + 1] == ",":
                node.commas.append(at)
                at = self.skip(at + 1)
        node.end = at + 1
        return node


Path: TypeAlias = Sequence[str | int]
_INDENT = re.compile(r"\n([ \t]+)\S")
_TRAILING_BLANK = re.compile(r"[ \t\r\n]*\Z")


def set_member(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with a value at a path of keys; objects above it are made where missing.

    A value that is there is replaced. Raises InputError if something other than objects is above.
    """
    *above, name = path
    text, node = _make_way(text, above, {})
    if (member := node.members.get(name)) is not None:
        written = _format(value, text, member.start)
        return text[: member.node.start] + written + text[member.node.end :]
    return _add(text, node, value, name)


def append_item(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with a value at the end of the array at a path, which is made if missing."""
    text, node = _make_way(text, path, [])
    return _add(text, node, value)


def remove_member(text: str, path: Sequence[str]) -> str:
    """Return the text without the value at a path of keys."""
    *above, name = path
    node = _find(parse(text), above)
    return _remove(text, node, list(node.members).index(name))


def remove_item(text: str, path: Path, index: int) -> str:
    """Return the text without one item of the array at a path."""
    return _remove(text, _find(parse(text), path), index)


def _find(node: Node, path: Path) -> Node:
    for step in path:
        node = node.items[step] if isinstance(step, int) else node.members[step].node
    return node


def _make_way(text: str, path: Sequence[str], wanted: Any) -> tuple[str, Node]:
    """Return the text with a container at a path, and the container."""
    root = parse(text)
    for length in range(len(path) + 1):
        kind = type(wanted) if length == len(path) else dict
        if length:
            above, name = path[: length - 1], path[length - 1]
            if name not in _find(root, above).members:
                text = _add(text, _find(root, above), kind(), name)
                root = parse(text)
        node = _find(root, path[:length])
        if not isinstance(node.value, kind):
            place = ".".join(path[:length]) or "its content"
            raise InputError(f"{place} is not {'an object' if kind is dict else 'a list'}")
    return text, node


def _add(text: str, node: Node, value: Any, name: str | None = None) -> str:
    """Return the text with an element at the end of a container."""
    key = "" if name is None else f"{json.dumps(name, ensure_ascii=False)}: "
    inside = text[node.start + 1 : node.end - 1]
    newline = _find_newline(text)
    blank = _TRAILING_BLANK.search(inside)
    end = node.start + 1 + (blank.start() if blank else 0)  # after the last element or comment
    spans = node.spans
    if _is_one_line(text) or (spans and "\n" not in inside):
        new = f"{key}{json.dumps(value, ensure_ascii=False)}"
        if not spans:
            return text[:end] + new + text[end:]
        if len(node.commas) == len(spans):
            return f"{text[:end]} {new},{text[end:]}"
        return f"{text[:end]}, {new}{text[end:]}"
    outer = _find_indent(text, node.start)
    inner = _find_indent(text, spans[-1][0]) if spans else outer + _find_unit(text)
    new = f"{newline}{inner}{key}{_format(value, text, indent=inner)}"
    close = "" if "\n" in inside[end - node.start - 1 :] else f"{newline}{outer}"
    if not spans:
        return text[:end] + new + close + text[end:]
    if len(node.commas) == len(spans):
        return text[:end] + new + "," + close + text[end:]
    last = spans[-1][1]
    return text[:last] + "," + text[last:end] + new + close + text[end:]


def _remove(text: str, node: Node, index: int) -> str:
    """Return the text without an element, its comma and the line that was made for it."""
    spans = node.spans
    start, end = spans[index]
    is_last = index == len(spans) - 1
    if index < len(node.commas):
        end = node.commas[index] + 1
    while start > node.start + 1 and text[start - 1] in " \t":
        start -= 1
    if text[start - 1] == "\n":
        start -= 2 if text[start - 2] == "\r" else 1
    pieces = [text[:start], text[end:]]
    if is_last and index and len(node.commas) < len(spans):  # the one before becomes the last
        comma = node.commas[index - 1]
        pieces[0] = text[:comma] + text[comma + 1 : start]
    rest = "".join(pieces)
    if (
        len(spans) == 1
        and not rest[node.start + 1 : node.end - (len(text) - len(rest)) - 1].strip()
    ):
        return rest[: node.start + 1] + rest[node.end - (len(text) - len(rest)) - 1 :]
    return rest


def _format(value: Any, text: str, start: int | None = None, indent: str | None = None) -> str:
    """Return a value as text, indented as what is around it."""
    outer = _find_indent(text, start or 0) if indent is None else indent
    written = json.dumps(value, indent=_find_unit(text), ensure_ascii=False)
    return written.replace("\n", _find_newline(text) + outer)


def _is_one_line(text: str) -> bool:
    """Tell whether a text has something in it, all on one line: what is added stays there."""
    bare = text.strip("\ufeff \t\r\n")
    return "\n" not in bare and bare.replace(" ", "") != "{}"


def _find_newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _find_unit(text: str) -> str:
    """Return by how much the text indents: as its first indented line."""
    match = _INDENT.search(text)
    return match[1] if match else "  "


def _find_indent(text: str, at: int) -> str:
    """Return the blanks at the beginning of the line of a place."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))].lstrip("\ufeff")
