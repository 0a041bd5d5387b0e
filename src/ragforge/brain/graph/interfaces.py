"""Interfaces: which ones a type implements without naming them, as in Go."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TypeAlias

from ragforge.brain.graph.members import Members
from ragforge.brain.graph.name_index import FILE, FileView, NameIndex, Target
from ragforge.brain.parse.outline import TYPES
from ragforge.records import dataclass

Shape: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
"""The types of a method's parameters and results."""
_Files: TypeAlias = tuple[str, ...]

_NAMED = re.compile(r"(?!(?:chan|func|map|struct|interface)\b)\w+\s+\S")
_QUALIFIER = re.compile(r"\b\w+\.(?=\w)")
_OPENING, _CLOSING = "([{", ")]}"


@dataclass(frozen=True, slots=True)
class _Interface:
    place: Target
    package: _Files
    methods: Mapping[str, Shape]


class Interfaces:
    """Finds the interfaces whose methods a type has.

    Those in its package count, and those in packages that its file imports: others cannot be
    seen from it. A type has the methods of what it embeds if that is of its package.
    """

    def __init__(self, index: NameIndex, members: Members) -> None:
        self._index, self._members = index, members
        self._methods: dict[_Files, dict[str, dict[str, Target]]] = {}
        self._known: dict[_Files, tuple[_Interface, ...]] = {}

    def find_implemented(self, target: Target) -> tuple[Target, ...]:
        """Return the interfaces that a type implements, without those that it names."""
        view = self._index.get_view(target)
        definition = view.definitions[target[1]]
        if not view.rules.implicit_interfaces or definition.type not in TYPES - {"interface"}:
            return ()
        package = self._find_package(view)
        own = self._list_methods(package)
        methods = dict(own.get(definition.qualified_name, {}))
        for base in self._members.find_bases(target):
            if base[0] in package:
                name = self._index.get_definition(base).qualified_name
                methods = {**own.get(name, {}), **methods}
        if not methods:
            return ()
        return tuple(
            one.place
            for one in self._list_visible(view, package)
            if one.methods.keys() <= methods.keys()
            and all(
                (one.package == package or name[:1].isupper())
                and self._find_shape(methods[name]) == shape
                for name, shape in one.methods.items()
            )
        )

    def _find_package(self, view: FileView) -> _Files:
        return self._index.modules.find_siblings(view.path, view.language)

    def _list_methods(self, package: _Files) -> dict[str, dict[str, Target]]:
        """Return the methods of a package by the names of their types."""
        known = self._methods.get(package)
        if known is None:
            known = self._methods[package] = defaultdict(dict)
            for path in package:
                view = self._index.find_view(path)
                for full, number in view.qualified.items() if view else ():
                    owner, _, name = full.rpartition(".")
                    if owner and view and view.definitions[number].type == "method":
                        known[owner][name] = (path, number)
        return known

    def _list_visible(self, view: FileView, package: _Files) -> Iterator[_Interface]:
        packages = {package: None}
        for found in view.imports:
            if files := self._index.modules.find(view.path, view.language, found.module):
                packages[files] = None
        for files in packages:
            yield from self._list_interfaces(files)

    def _list_interfaces(self, package: _Files) -> tuple[_Interface, ...]:
        if package not in self._known:
            self._known[package] = tuple(self._read_interfaces(package))
        return self._known[package]

    def _read_interfaces(self, package: _Files) -> Iterator[_Interface]:
        for path in package:
            view = self._index.find_view(path)
            for number, definition in enumerate(view.definitions if view else ()):
                if definition.type == "interface" and number != FILE:
                    methods = self._collect(package, (path, number), frozenset())
                    if methods:
                        yield _Interface((path, number), package, methods)

    def _collect(
        self, package: _Files, place: Target, seen: frozenset[Target]
    ) -> dict[str, Shape] | None:
        """Return all methods of an interface; None if it embeds one that is not known."""
        definition = self._index.get_definition(place)
        if place in seen:
            return None
        bases = self._members.find_bases(place)
        if len(bases) != len(definition.bases):
            return None
        own = self._list_methods(package).get(definition.qualified_name, {})
        found = {name: self._find_shape(target) for name, target in own.items()}
        for base in bases:
            view = self._index.get_view(base)
            if view.definitions[base[1]].type != "interface":
                return None
            inner = self._collect(self._find_package(view), base, seen | {place})
            if inner is None:
                return None
            found |= inner
        return found

    def _find_shape(self, target: Target) -> Shape:
        definition = self._index.get_definition(target)
        return read_shape(definition.signature, definition.name)


@lru_cache(1 << 12)
def read_shape(signature: str, name: str) -> Shape:
    """Return the types in a method's signature, without packages and names of parameters."""
    rest = signature
    if signature.startswith("func"):  # after the receiver
        rest = signature.removeprefix("func").lstrip()
        rest = rest[_find_end(rest) :].lstrip()
    rest = rest.removeprefix(name).lstrip()
    end = _find_end(rest)
    results = rest[end:].strip()
    if results.startswith("("):
        results = results[1:-1]
    return _read_types(rest[1 : end - 1]), _read_types(results)


def _read_types(text: str) -> tuple[str, ...]:
    parts = [part.strip() for part in _split(text) if part.strip()]
    if any(_NAMED.match(part) for part in parts):
        for at in range(len(parts) - 1, -1, -1):
            _, space, kind = parts[at].partition(" ")
            parts[at] = kind if space else parts[min(at + 1, len(parts) - 1)]
    return tuple(
        _QUALIFIER.sub("", "".join(part.split())).replace("interface{}", "any") for part in parts
    )


def _split(text: str) -> Iterator[str]:
    depth = start = 0
    for at, sign in enumerate(text):
        depth += (sign in _OPENING) - (sign in _CLOSING)
        if sign == "," and depth == 0:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def _find_end(text: str) -> int:
    """Return where the first bracket of a text is closed."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in _OPENING) - (sign in _CLOSING)
        if depth == 0 and sign in _CLOSING:
            return at + 1
    return len(text)
