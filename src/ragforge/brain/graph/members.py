"""Members: what a type calls by a name, itself or by what it inherits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from ragforge.brain.graph.file_names import FILE, FileNames
from ragforge.brain.graph.name_index import MAX_DEPTH, NameIndex, Target
from ragforge.brain.parse.outline import CONTAINERS, HOLDERS

_MAX_PARTS = 12  # places in which a type is continued

TypeNamed: TypeAlias = Callable[[FileNames, int, str], Target | None]


class Members:
    """Members and bases of types; a base's name is resolved by who knows the scopes."""

    def __init__(self, atlas: NameIndex, type_named: TypeNamed) -> None:
        self._atlas = atlas
        self._type_named = type_named
        self._bases: dict[Target, tuple[Target, ...]] = {}
        self._parts: dict[Target, tuple[Target, ...]] = {}
        self._inherited: dict[Target, tuple[Target, ...]] = {}
        self._own: dict[tuple[str, int, str], Target | None] = {}

    def named(self, target: Target, name: str, inherit: bool = True) -> Target | None:
        """Return what a type calls so, or else what one of its bases does."""
        found = self.own(target, name)
        return found if found or not inherit else self.inherited((target,), name)

    def inherited(self, kinds: Iterable[Target], name: str) -> Target | None:
        """Return what the bases of types call so."""
        for kind in kinds:
            for base in self._ancestors(kind):
                if found := self.own(base, name):
                    return found
        return None

    def own(self, target: Target, name: str) -> Target | None:
        """Return what a type itself calls so, in any of the places where it is written."""
        key = (*target, name)
        if key not in self._own:
            self._own[key] = self._looked_inside(target, name)
        return self._own[key]

    def bases(self, target: Target) -> tuple[Target, ...]:
        """Return the types that a type inherits from, as far as they are in the project."""
        known = self._bases.get(target)
        if known is None:
            view = self._atlas.view_of(target)
            definition = view.definitions[target[1]]
            around = definition.parent or FILE
            found = (self._type_named(view, around, base) for base in definition.bases)
            known = tuple(dict.fromkeys(base for base in found if base and base != target))
            self._bases[target] = known
        return known

    def of_object(self, view: FileNames, scope: int) -> list[Target]:
        """Return the types that `self` is of at a place."""
        number: int | None = scope
        while number is not None and number != FILE:
            definition = view.definitions[number]
            if owner := view.owner(number):
                return self.owners(view, owner)
            parent = definition.parent
            if definition.type in CONTAINERS:
                return [(view.path, number)]
            is_member = definition.type == "method" or view.rules.modules_are_types
            if is_member and parent is not None and view.definitions[parent].type != "method":
                return [(view.path, parent)]
            number = parent
        return []

    def owners(self, view: FileNames, owner: str) -> list[Target]:
        """Return the type to which a method says it belongs."""
        found: Target | None = None
        if owner in view.parts:
            found = view.path, view.parts[owner][0]
        elif owner in view.qualified:
            found = view.path, view.qualified[owner]
        elif view.rules.includes:
            found = self._atlas.included(view, owner)
        elif view.rules.methods_in_package:
            found = self._atlas.package(view).get(owner)
        return [found] if found else []

    def _looked_inside(self, target: Target, name: str) -> Target | None:
        for path, number in (target, *self._written(target)):
            inner = self._atlas.view_of((path, number)).inner.get(number)
            if inner is not None and name in inner:
                return path, inner[name]
        view = self._atlas.view_of(target)
        full = f"{view.definitions[target[1]].qualified_name}.{name}"
        if full in view.qualified:
            return view.path, view.qualified[full]
        return self._atlas.package(view).get(full) if view.rules.methods_in_package else None

    def _written(self, target: Target) -> tuple[Target, ...]:
        """Return the other places where a type is written: implementations, extensions."""
        known = self._parts.get(target)
        if known is None:
            known = self._parts[target] = tuple(dict.fromkeys(self._other_places(target)))
        return known

    def _other_places(self, target: Target) -> Iterator[Target]:
        view = self._atlas.view_of(target)
        definition = view.definitions[target[1]]
        if definition.type not in HOLDERS:
            return
        name, rules = definition.qualified_name, view.rules
        for number in view.parts.get(name, ()):
            if number != target[1]:
                yield view.path, number
        if rules.partial_types:
            places = self._atlas.places(rules.family, name)
            if len(places) <= _MAX_PARTS:
                yield from (place for place in places if place[0] != view.path)
        elif definition.type == "impl":
            found = self._type_named(view, definition.parent or FILE, definition.name)
            if found is not None and found[0] != view.path:
                yield found
                other = self._atlas.view_of(found)
                full = other.definitions[found[1]].qualified_name
                yield from ((other.path, number) for number in other.parts.get(full, ()))

    def _ancestors(self, target: Target) -> tuple[Target, ...]:
        """Return what a type inherits from, the nearest first; cycles end."""
        known = self._inherited.get(target)
        if known is None:
            found: dict[Target, None] = {target: None}
            level: list[Target] = [target]
            for _ in range(MAX_DEPTH):
                above = [
                    base
                    for kind in level
                    for part in (kind, *self._written(kind))
                    for base in self.bases(part)
                ]
                level = [base for base in dict.fromkeys(above) if base not in found]
                found.update(dict.fromkeys(level))
            del found[target]
            # What only declares a method is not meant where another base has its body.
            ranked = sorted(
                found, key=lambda kind: self._atlas.definition(kind).type == "interface"
            )
            known = self._inherited[target] = tuple(ranked)
        return known
