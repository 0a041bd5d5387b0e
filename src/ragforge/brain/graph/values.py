"""Values: of which type an expression is, as far as the source says it.

Only what is written counts: a declared type, a constructor, the return type of a function. What
may be of several types is of none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Protocol

from ragforge.brain.graph.members import Members
from ragforge.brain.graph.name_index import FILE, FileView, NameIndex, Target
from ragforge.brain.parse.names import read_type
from ragforge.brain.parse.outline import CONTAINERS, TYPES
from ragforge.brain.parse.source import FUNCTIONS

MAX_STEPS = 5
"""From one declaration to the next: a chain of them, or a circle."""

_AFTER_ARROW = re.compile(r"\)\s*(?:async\s+)?->\s*(?P<type>.+)$")
_AFTER_COLON = re.compile(r"\)\s*:\s*(?P<type>[^={]+)$")
_OWN_TYPE = frozenset(("Self", "self", "this", "static", "typing.Self"))


class Names(Protocol):
    """What finding types needs of the resolver."""

    def resolve_name(self, view: FileView, scope: int, parts: Sequence[str]) -> Target | None:
        """Return the definition that a whole name means."""

    def resolve_type(self, view: FileView, scope: int, name: str) -> Target | None:
        """Return the type that a name in a definition means."""


class Values:
    """Finds the types of expressions, and their members."""

    def __init__(self, index: NameIndex, members: Members, names: Names) -> None:
        self._index, self._members, self._names = index, members, names
        self._known: dict[tuple[str, int, str], Target | None] = {}

    def find_member(self, view: FileView, scope: int, parts: Sequence[str]) -> Target | None:
        """Return the member that the last part of a name is, of the value before it."""
        if len(parts) == 2 and self._is_self(view, scope, parts[0]):
            return None
        kind = self._find_type(view, scope, parts[:-1], MAX_STEPS)
        return None if kind is None else self._members.find_member(kind, parts[-1])

    def _find_type(
        self, view: FileView, scope: int, parts: Sequence[str], steps: int
    ) -> Target | None:
        """Return the type of a value, given by a chain of names and calls."""
        if steps < MAX_STEPS:  # not kept: what it is depends on how many steps are left
            return self._follow(view, scope, parts, steps) if steps else None
        key = (view.path, scope, ".".join(parts))
        if key not in self._known:
            if any(part.endswith("()") for part in parts[:-1]):  # of a long chain every link
                kind = self._find_type(view, scope, parts[:-1], steps)
                self._known[key] = None if kind is None else self._step(kind, parts[-1], steps)
            else:
                self._known[key] = self._follow(view, scope, parts, steps)
        return self._known[key]

    def _follow(
        self, view: FileView, scope: int, parts: Sequence[str], steps: int
    ) -> Target | None:
        kind, rest = self._begin(view, scope, parts, steps)
        for part in rest:
            if kind is None:
                return None
            kind = self._step(kind, part, steps)
        return kind

    def _begin(
        self, view: FileView, scope: int, parts: Sequence[str], steps: int
    ) -> tuple[Target | None, Sequence[str]]:
        """Return the type of the first part or parts that have one, and the others."""
        head = parts[0]
        if head.startswith("@"):  # a field of Ruby
            kinds = self._members.find_self_types(view, scope)
            return (kinds[0] if len(kinds) == 1 else None), (head.lstrip("@"), *parts[1:])
        if self._is_self(view, scope, head):
            kinds = self._members.find_self_types(view, scope)
            return (kinds[0] if len(kinds) == 1 else None), parts[1:]
        found = self._find_origin(view, scope, head)
        if found is not None:
            place, origin = found
            return self._read_origin(view, place, origin, steps), parts[1:]
        names = [part.removesuffix("()") for part in parts]
        if view.rules.maker in names[1:]:
            count = names.index(view.rules.maker)
            found_type = self._names.resolve_type(view, scope, ".".join(names[:count]))
            return found_type, parts[count + 1 :]
        called = [at for at, part in enumerate(parts) if part.endswith("()")]
        if not called:
            return None, ()
        count = called[0] + 1
        names = names[:count]
        target = self._names.resolve_name(view, scope, names)
        return self._call(target, names[-1], steps), parts[count:]

    def _call(self, target: Target | None, name: str, steps: int) -> Target | None:
        """Return the type of what a call gives: an instance, or what a function returns."""
        if target is None:
            return None
        definition = self._index.get_definition(target)
        if definition.name != name:
            return None
        if definition.type in TYPES:
            return target
        if enum := self._index.find_enum(target):
            return enum
        if definition.type not in FUNCTIONS:
            return None
        view = self._index.get_view(target)
        written = read_return(definition.signature, definition.name, view.rules.family)
        if written.removeprefix(":") in _OWN_TYPE:
            kinds = self._members.find_self_types(view, target[1])
            return kinds[0] if len(kinds) == 1 else None
        return self._read_origin(view, target[1], written, steps) if written else None

    def _step(self, kind: Target, part: str, steps: int) -> Target | None:
        """Return the type of a field, or of what a method returns."""
        name = part.removesuffix("()")
        member = self._members.find_member(kind, name)
        if member is not None:
            definition = self._index.get_definition(member)
            if definition.type in FUNCTIONS and (
                part != name or _is_property(definition.decorators)
            ):
                return self._call(member, name, steps)
        for path, number in self._members.list_places(kind):
            view = self._index.get_view((path, number))
            if origin := dict(view.definitions[number].origins).get(name):
                return self._read_origin(view, number, origin, steps)
        return None

    def _read_origin(self, view: FileView, scope: int, origin: str, steps: int) -> Target | None:
        if origin.startswith(":"):
            found = self._names.resolve_type(view, scope, origin[1:])
            kind = None if found is None else self._index.get_definition(found).type
            return found if kind in CONTAINERS else None
        return self._find_type(view, scope, origin.split("."), steps - 1) if origin else None

    def _find_origin(self, view: FileView, scope: int, name: str) -> tuple[int, str] | None:
        """Return where a name is bound and to what; "" if that is not known."""
        for number in _walk(view, scope):
            definition = view.definitions[number]
            is_function = definition.type in FUNCTIONS or number == FILE
            if not is_function and not view.rules.implicit_members:
                continue
            places = [(view.path, number)] if is_function else self._list_fields(view, number)
            for path, place in places:
                if path == view.path:
                    for bound, origin in view.definitions[place].origins:
                        if bound == name:
                            return place, origin
        return None

    def _list_fields(self, view: FileView, number: int) -> Sequence[Target]:
        return self._members.list_places((view.path, number))

    def _is_self(self, view: FileView, scope: int, head: str) -> bool:
        if head in view.rules.self_words:
            return True
        pattern = view.rules.receiver
        return pattern is not None and any(
            (found := pattern.match(view.definitions[number].signature)) and found[1] == head
            for number in _walk(view, scope)
        )


def _walk(view: FileView, scope: int) -> Iterator[int]:
    """Yield a scope and those around it, the file last."""
    number: int | None = scope
    while number is not None and number != FILE:
        yield number
        number = view.definitions[number].parent
    yield FILE


def _is_property(decorators: Sequence[str]) -> bool:
    return any(mark.rpartition(".")[2].endswith("property") for mark in decorators)


@lru_cache(1 << 12)
def read_return(signature: str, name: str, family: str) -> str:
    """Return the origin that the return type in a signature is, or nothing."""
    if found := _AFTER_ARROW.search(signature) or _AFTER_COLON.search(signature):
        return read_type(found["type"].split(" where ")[0])
    if family == "go":
        return _read_go_return(signature)
    if family in ("jvm", "java", "csharp", "c", "cpp"):
        before = re.search(
            rf"(?P<type>[\w.:<>\[\], ?]+?)[\s*&]+(?:[\w:<>]+::)?{re.escape(name)}\s*\(", signature
        )
        return read_type(before["type"].split()[-1]) if before and before["type"].split() else ""
    return ""


def _read_go_return(signature: str) -> str:
    depth = 0
    for at in range(len(signature) - 1, -1, -1):  # the parameters end before the results
        sign = signature[at]
        if sign == ")" and depth == 0 and at < len(signature) - 1:
            return read_type(signature[at + 1 :].strip())
        depth += (sign == ")") - (sign == "(")
        if sign == "(" and depth == 0 and signature.endswith(")"):
            before = signature[:at].rstrip()
            if before.endswith(")"):
                first = signature[at + 1 : -1].split(",", maxsplit=1)[0].split()
                return read_type(first[-1]) if first else ""
            return ""
    return ""
