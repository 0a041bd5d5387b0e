"""Members: the members of a type by their names, and the interfaces that these implement."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TypeAlias

from ragforge.brain.graph.name_index import FILE, MAX_DEPTH, FileView, NameIndex, Target
from ragforge.brain.parse.outline import CONTAINERS, HOLDERS, TYPES
from ragforge.records import dataclass

_MAX_PARTS = 12  # places in which one type is written

ResolveType: TypeAlias = Callable[[FileView, int, str], Target | None]
Shape: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
"""The types of a method's parameters and results."""
_Files: TypeAlias = tuple[str, ...]

_NAMED = re.compile(r"(?!(?:chan|func|map|struct|interface)\b)\w+\s+\S")
_QUALIFIER = re.compile(r"\b\w+\.(?=\w)")
_OPENING, _CLOSING = "([{", ")]}"


class Members:
    """Finds members and bases of types; `resolve_type` resolves the names of bases."""

    def __init__(self, index: NameIndex, resolve_type: ResolveType) -> None:
        self._index = index
        self._resolve_type = resolve_type
        self._bases: dict[Target, tuple[Target, ...]] = {}
        self._parts: dict[Target, tuple[Target, ...]] = {}
        self._inherited: dict[Target, tuple[Target, ...]] = {}
        self._own: dict[tuple[str, int, str], Target | None] = {}

    def find_member(self, target: Target, name: str, inherit: bool = True) -> Target | None:
        """Return the member of a type with this name, its own or an inherited one."""
        found = self.find_own(target, name)
        if found is None and (enum := self._index.find_enum(target)):
            return self.find_member(enum, name, inherit)
        return found if found or not inherit else self.find_inherited((target,), name)

    def find_inherited(self, kinds: Iterable[Target], name: str) -> Target | None:
        """Return the member with this name that types inherit."""
        for kind in kinds:
            for base in self._list_ancestors(kind):
                if found := self.find_own(base, name):
                    return found
        return None

    def find_own(self, target: Target, name: str) -> Target | None:
        """Return a type's own member, from any of the places where the type is written."""
        key = (*target, name)
        if key not in self._own:
            self._own[key] = self._look_inside(target, name)
        return self._own[key]

    def find_bases(self, target: Target) -> tuple[Target, ...]:
        """Return the types of the project that a type inherits from directly."""
        known = self._bases.get(target)
        if known is None:
            view = self._index.get_view(target)
            definition = view.definitions[target[1]]
            around = definition.parent or FILE
            places = (around, target[1]) if view.rules.bases_in_body else (around,)
            found = (
                next(
                    filter(None, (self._resolve_type(view, place, base) for place in places)), None
                )
                for base in definition.bases
            )
            known = tuple(dict.fromkeys(base for base in found if base and base != target))
            self._bases[target] = known
        return known

    def find_all_bases(self, target: Target) -> tuple[Target, ...]:
        """Return what a type inherits from directly, wherever the source says so."""
        found = dict.fromkeys(self.find_bases(target))
        for part in self._find_parts(target):
            found.update(dict.fromkeys(self.find_bases(part)))
        found.pop(target, None)
        return tuple(found)

    def find_self_types(self, view: FileView, scope: int) -> list[Target]:
        """Return the types that `self` can have in a scope."""
        number: int | None = scope
        while number is not None and number != FILE:
            definition = view.definitions[number]
            if owner := view.find_owner(number):
                return self.find_owners(view, owner)
            parent = definition.parent
            if definition.type in CONTAINERS:
                return [(view.path, number)]
            is_member = definition.type == "method" or view.rules.modules_are_types
            if is_member and parent is not None and view.definitions[parent].type != "method":
                return [(view.path, parent)]
            number = parent
        return []

    def find_owners(self, view: FileView, owner: str) -> list[Target]:
        """Return the type that a method outside of it belongs to."""
        found: Target | None = None
        if owner in view.parts:
            found = view.path, view.parts[owner][0]
        elif owner in view.qualified:
            found = view.path, view.qualified[owner]
        elif view.rules.includes:
            found = self._index.find_included(view, owner)
        elif view.rules.methods_in_package:
            found = self._index.get_package(view).get(owner)
        elif view.rules.project_types:
            found = self._resolve_type(view, FILE, owner)
        return [found] if found else []

    def list_places(self, target: Target) -> list[Target]:
        """Return where a type and what it inherits from are written."""
        kinds = (target, *self._list_ancestors(target))
        return [place for kind in kinds for place in (kind, *self._find_parts(kind))]

    def _look_inside(self, target: Target, name: str) -> Target | None:
        for path, number in (target, *self._find_parts(target)):
            inner = self._index.get_view((path, number)).inner.get(number)
            if inner is not None and name in inner:
                return path, inner[name]
        view = self._index.get_view(target)
        full = f"{view.definitions[target[1]].qualified_name}.{name}"
        if full in view.qualified:
            return view.path, view.qualified[full]
        return self._index.get_package(view).get(full) if view.rules.methods_in_package else None

    def _find_parts(self, target: Target) -> tuple[Target, ...]:
        """Return the other places where a type is written: implementations, extensions."""
        known = self._parts.get(target)
        if known is None:
            known = self._parts[target] = tuple(dict.fromkeys(self._list_other_places(target)))
        return known

    def _list_other_places(self, target: Target) -> Iterator[Target]:
        view = self._index.get_view(target)
        definition = view.definitions[target[1]]
        if definition.type not in HOLDERS:
            return
        name, rules = definition.qualified_name, view.rules
        for number in view.parts.get(name, ()):
            if number != target[1]:
                yield view.path, number
        if rules.partial_types:
            places = self._index.find_places(rules.family, name)
            if len(places) <= _MAX_PARTS:
                yield from (place for place in places if place[0] != view.path)
        elif definition.type == "impl":
            found = self._resolve_type(view, definition.parent or FILE, definition.name)
            if found is not None and found[0] != view.path:
                yield found
                other = self._index.get_view(found)
                full = other.definitions[found[1]].qualified_name
                yield from ((other.path, number) for number in other.parts.get(full, ()))

    def _list_ancestors(self, target: Target) -> tuple[Target, ...]:
        """Return all that a type inherits from, the nearest first; cycles are allowed."""
        known = self._inherited.get(target)
        if known is None:
            found: dict[Target, None] = {target: None}
            level: list[Target] = [target]
            for _ in range(MAX_DEPTH):
                above = [
                    base
                    for kind in level
                    for part in (kind, *self._find_parts(kind))
                    for base in self.find_bases(part)
                ]
                level = [base for base in dict.fromkeys(above) if base not in found]
                found.update(dict.fromkeys(level))
            del found[target]
            # Interfaces last: another base may have the body of a method that they only declare.
            ranked = sorted(
                found, key=lambda kind: self._index.get_definition(kind).type == "interface"
            )
            known = self._inherited[target] = tuple(ranked)
        return known


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
