"""JSON text: parse JSON with comments and trailing commas, with the place of each value.

The places make it possible to change one value and to leave every other byte as it is.
"""

from __future__ import annotations

import json
import re
from dataclasses import field
from typing import Any

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
