"""Resolve: which definition a name in a scope means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from ragforge.brain.graph.exports import Exports, ImportedModule, Meaning
from ragforge.brain.graph.members import Members
from ragforge.brain.graph.name_index import FILE, FileView, NameIndex, Target
from ragforge.brain.graph.values import Values
from ragforge.brain.parse.outline import CONTAINERS, HOLDERS, SPACES
from ragforge.domain.code import SMALL

_SHORT = 2
_NAME = r"[@$#]*\w[\w$]*'*"
_PARAMETER = re.compile(rf"(?<=[(,\s*&]){_NAME}(?![\w$.(:'])|(?<=[(,\s]){_NAME}(?=\s*:(?!:))")


class Resolver:
    """Resolves names to definitions. An answer is certain by the language's rules, or None."""

    def __init__(self, index: NameIndex) -> None:
        self._index = index
        self.members = Members(index, self.resolve_type)
        self.exports = Exports(index, self.members)
        self.values = Values(index, self.members, self)
        self._outer: dict[tuple[str, str, str], tuple[Meaning, int] | None] = {}

    def resolve_use(self, view: FileView, scope: int, name: str, is_call: bool) -> Target | None:
        """Return the definition that a name in the body of another one means."""
        parts, rules = name.split("."), view.rules
        if is_call and len(parts) > 1 and parts[-1] in rules.call_words:  # `stop.call(this)`
            found = self.resolve_use(view, scope, ".".join(parts[:-1]), is_call)
            if found is not None:
                return found
        if len(parts) == 1:
            return self._resolve_word(view, scope, name, is_call)
        head = parts[0]
        if not head:  # a member of a computed value
            return None
        if head == "super()" and rules.self_words:
            kinds = self.members.find_self_types(view, scope)
            return self.members.find_inherited(kinds, parts[1])
        found = self.values.find_member(view, scope, parts)
        if found or "()" in name:
            return found
        if head in rules.self_words or (rules.receiver and head == _find_receiver(view, scope)):
            found = self._resolve_member(view, scope, parts)
            if found or not view.rules.path_names:  # `self::` is a module there
                return found
        if head in rules.super_words:
            kinds = self.members.find_self_types(view, scope)
            return self.members.find_inherited(kinds, parts[1])
        if rules.dotted_names and name in view.qualified:
            return view.path, view.qualified[name]
        if _is_parameter(view, scope, head):
            return None
        return self._resolve_name(view, scope, parts)

    def resolve_constant(self, view: FileView, scope: int, name: str) -> Target | None:
        """Return the constant that a name in front of a member means: of `STYLE.apply`, `STYLE`."""
        found = self._look_around(view, scope, name, inherit=True)
        return found if found and self._index.get_definition(found).type == "constant" else None

    def resolve_name(self, view: FileView, scope: int, parts: Sequence[str]) -> Target | None:
        """Return the definition that a whole name means."""
        if _is_parameter(view, scope, parts[0]):
            return None
        return self._resolve_name(view, scope, list(parts), whole=True)

    def resolve_type(self, view: FileView, scope: int, name: str) -> Target | None:
        """Return the type that a name in a definition means; inherited types are left out."""
        found = self._resolve_name(view, scope, name.split("."), whole=True)
        return found if found and self._index.is_type(found) else None

    def _resolve_word(self, view: FileView, scope: int, name: str, is_call: bool) -> Target | None:
        """Return what one word means. A short or lower-case word may also be a variable."""
        if is_call and (
            name in view.rules.super_words or (name == "super" and view.rules.self_words)
        ):
            kinds = self.members.find_self_types(view, scope)
            return self.members.find_inherited(kinds, view.definitions[scope].name)
        doubtful = len(name) <= _SHORT or (_is_low(name) and not is_call)
        if not doubtful:
            return self._resolve_name(view, scope, [name])
        if view.rules.lowercase_types and len(name) > _SHORT:
            found = self._resolve_name(view, scope, [name])
            return found if found and self._index.is_type(found) else None
        place = _find_binding(view, scope, name)
        meaning = None if place is None else self.exports.resolve_bound(view, place, name)
        return self._follow(meaning, [name], 1)

    def _resolve_name(
        self, view: FileView, scope: int, parts: list[str], whole: bool = False
    ) -> Target | None:
        """Return what a name means.

        With `whole`, the last part must be found too, and bases are left out: this is how
        bases themselves are resolved.
        """
        head = parts[0]
        place = _find_binding(view, scope, head)
        found = self._look_around(view, scope, head, not whole)
        if self._is_meant(found, parts) and (target := self._follow(found, parts, 1, whole)):
            return target
        if place is not None:
            return self._follow(self.exports.resolve_bound(view, place, head), parts, 1, whole)
        if view.dotted and (target := self._resolve_dotted_alias(view, parts, whole)):
            return target
        outer = self._look_outside(view, scope, parts)
        if outer and self._is_meant(outer[0], parts[outer[1] - 1 :]):
            return self._follow(outer[0], parts, outer[1], whole)
        if view.rules.path_names and len(parts) > 1:
            return self._resolve_path(view, parts, whole)
        return None

    def _resolve_path(self, view: FileView, parts: list[str], whole: bool) -> Target | None:
        """Return what is at the end of a path from a crate or module."""
        files, left = self._index.modules.locate(view.path, view.language, "::".join(parts))
        found = self.exports.follow_path(files, list(left)) if files and left else None
        if found and whole and self._index.get_definition(found).name != parts[-1]:
            return None
        return found

    def _look_around(self, view: FileView, scope: int, name: str, inherit: bool) -> Target | None:
        """Return what a name means by the enclosing definitions, the innermost first."""
        number: int | None = scope if scope != FILE else None
        implicit = view.rules.implicit_members
        while number is not None:
            definition = view.definitions[number]
            inner = view.inner.get(number)
            if definition.type in CONTAINERS and number != scope and not implicit:
                inner = None
            if inner is not None and name in inner:
                is_small = view.definitions[inner[name]].type in SMALL
                if implicit or not is_small:  # else it needs its type before it
                    return view.path, inner[name]
            if implicit:
                for kind in self._list_types(view, number):
                    if found := self.members.find_member(kind, name, inherit):
                        return found
            if definition.type in HOLDERS and not view.rules.outer_members and _is_low(name):
                break
            number = definition.parent
        own = view.top.get(name)
        return None if own is None else (view.path, own)

    def _list_types(self, view: FileView, number: int) -> list[Target]:
        """Return the type that a definition is, or that it is written outside of."""
        if view.definitions[number].type in CONTAINERS:
            return [(view.path, number)]
        owner = view.find_owner(number)
        return self.members.find_owners(view, owner) if owner else []

    def _resolve_dotted_alias(self, view: FileView, parts: list[str], whole: bool) -> Target | None:
        """Return what a name means that starts with a dotted alias of a module."""
        for count in range(len(parts) - 1, 1, -1):
            name = ".".join(parts[:count])
            if name in view.dotted and name in view.bound:
                return self._follow(
                    self.exports.resolve_bound(view, FILE, name), parts, count, whole
                )
        return None

    def _look_outside(
        self, view: FileView, scope: int, parts: list[str]
    ) -> tuple[Meaning, int] | None:
        """Return what a name means without being bound in this file, and how many parts it took."""
        space = _find_space(view, scope)
        if any(place != FILE for place, _ in view.wildcards):
            space = f"{space} {scope}"
        key = (view.path, space, ".".join(parts))
        if key not in self._outer:
            self._outer[key] = self._search_outside(view, scope, parts)
        return self._outer[key]

    def _search_outside(
        self, view: FileView, scope: int, parts: list[str]
    ) -> tuple[Meaning, int] | None:
        rules, head = view.rules, parts[0]
        if head in rules.builtin_names and not rules.package_names:
            return None
        if not rules.outer_members and _is_low(head):
            return None
        if rules.includes or (rules.project_types and not rules.bare_types):
            for prefix in _list_prefixes(_find_space(view, scope), view):
                for count in range(len(parts), 0, -1):
                    name = ".".join(parts[:count])
                    found = self._find_qualified(view, f"{prefix}.{name}" if prefix else name)
                    if found is not None:
                        return found, count
        if rules.includes:
            return None
        brought = {
            self.exports.resolve_wildcard(view, statement, head)
            for place, statement in view.wildcards
            if place in (FILE, scope) or view.is_around(place, scope)
        } - {None}
        meaning = brought.pop() if len(brought) == 1 else None
        if meaning is None and rules.package_names:
            meaning = self._index.get_package(view).get(head)
        if (
            meaning is None
            and rules.bare_types
            and head not in rules.builtin_names
            and not _is_open(view)
        ):
            meaning = self._index.find_only_type(rules.family, head)
        return None if meaning is None else (meaning, 1)

    def _find_qualified(self, view: FileView, name: str) -> Target | None:
        """Return the definition with a qualified name, in this file or one that it sees."""
        own = view.qualified.get(name)
        if own is not None and view.definitions[own].type != "namespace":
            return view.path, own
        if view.rules.includes:
            return self._index.find_included(view, name)
        if name.rpartition(".")[2] in view.rules.builtin_names:
            return None
        return self._index.find_only_type(view.rules.family, name)

    def _resolve_member(self, view: FileView, scope: int, parts: list[str]) -> Target | None:
        for kind in self.members.find_self_types(view, scope):
            if found := self.members.find_member(kind, parts[1]):
                return self._follow(found, parts, 2)
        return None

    def _follow(
        self, meaning: Meaning | None, parts: list[str], count: int, whole: bool = False
    ) -> Target | None:
        """Return the end of a dotted name: a member, or the last part that could be found."""
        for name in parts[count:]:
            if isinstance(meaning, ImportedModule):
                meaning = self.exports.resolve_inside(meaning, name)
            elif meaning is not None:
                found = self._find_static(meaning, name, inherit=not whole)
                is_space = self._index.get_definition(meaning).type in SPACES
                if found is None or not (is_space or self._is_static(found)):
                    unknown = whole or (is_space and not _is_low(name))
                    meaning = None if unknown else meaning
                    break
                meaning = found
        if isinstance(meaning, ImportedModule):
            return self.exports.resolve_itself(meaning, parts[-1])
        if meaning is None or self._index.get_definition(meaning).type == "namespace":
            return None
        return meaning

    def _find_static(self, kind: Target, name: str, inherit: bool) -> Target | None:
        """Return a member of a type itself; of an object if there is no other."""
        prefix = self._index.get_view(kind).rules.static_prefix
        found = self.members.find_member(kind, prefix + name, inherit) if prefix else None
        return found or self.members.find_member(kind, name, inherit)

    def _is_static(self, target: Target) -> bool:
        """Tell whether a member belongs to the type itself, where signatures show it."""
        prefix = self._index.get_view(target).rules.static_prefix
        definition = self._index.get_definition(target)
        is_function = definition.type in ("method", "function")
        return not is_function or definition.signature.startswith(prefix)

    def _is_meant(self, meaning: Meaning | None, parts: list[str]) -> bool:
        """Tell whether a name before a dot means this definition, and not a variable."""
        if meaning is None or isinstance(meaning, ImportedModule) or len(parts) == 1:
            return meaning is not None
        kind = self._index.get_definition(meaning).type
        return not _is_low(parts[0]) or kind in HOLDERS


def _is_low(name: str) -> bool:
    return not name.lstrip("_$@")[:1].isupper()


def _walk_outwards(view: FileView, scope: int) -> Iterator[int]:
    number: int | None = scope
    while number is not None and number != FILE:
        yield number
        number = view.definitions[number].parent


def _find_binding(view: FileView, scope: int, name: str) -> int | None:
    """Return the scope whose imports bind a name, None if no import does."""
    if view.scoped:
        for number in _walk_outwards(view, scope):
            if name in view.scoped.get(number, ()):
                return number
    return FILE if name in view.bound else None


def _find_receiver(view: FileView, scope: int) -> str | None:
    """Return what a method calls its object."""
    pattern = view.rules.receiver
    for number in _walk_outwards(view, scope):
        if pattern and (found := pattern.match(view.definitions[number].signature)):
            return found.group(1)
    return None


def _is_parameter(view: FileView, scope: int, name: str) -> bool:
    """Tell whether an enclosing function has a parameter or type parameter of this name."""
    for number in _walk_outwards(view, scope):
        definition = view.definitions[number]
        signature = definition.signature
        if definition.type in CONTAINERS or name not in signature:
            continue
        if _is_low(name):
            if name in _list_parameters(signature):
                return True
        elif "<" in signature or "[" in signature:
            before = rf"(?:\bfun\s*|\b{re.escape(definition.name)}\s*)"
            if re.search(rf"{before}[<\[][^(]*\b{re.escape(name)}\b", signature):
                return True
    return False


@lru_cache(1 << 12)
def _list_parameters(signature: str) -> frozenset[str]:
    """Return the names in a signature that may be parameters."""
    return frozenset(match.group() for match in _PARAMETER.finditer(signature))


def _find_space(view: FileView, scope: int) -> str:
    """Return the qualified name of the type or namespace around a scope."""
    for number in _walk_outwards(view, scope):
        definition = view.definitions[number]
        if definition.type in HOLDERS:
            return definition.qualified_name
        if owner := view.find_owner(number):
            return owner
    return ""


def _list_prefixes(space: str, view: FileView) -> Iterable[str]:
    """Yield the prefixes that a name may lack, the innermost first."""
    while space:
        if view.rules.nested_names or _is_namespace(view, space):
            yield space
        space = space.rpartition(".")[0]
    yield ""
    yield from view.opened


def _is_open(view: FileView) -> bool:
    """Tell whether a file imports all names of a package that is never the project's."""
    return any(
        found.module.partition(".")[0] in view.rules.foreign_wildcards
        for _, found in view.wildcards
    )


def _is_namespace(view: FileView, name: str) -> bool:
    number = view.qualified.get(name)
    return number is not None and view.definitions[number].type == "namespace"
