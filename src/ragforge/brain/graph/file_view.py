"""File view: the names of one file, indexed for lookup."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace

from ragforge.brain.languages.language import Import, NameRules
from ragforge.brain.parse.outline import HOLDERS, Outline
from ragforge.records import dataclass

FILE = 0  # the number of the definition that is the file itself
Bound = tuple[Import, str | None]  # an import and the name it brings; None: the module itself

_HEADER = re.compile(r"/|\.(?:h|hh|hpp|hxx|inc|inl|c|cc|cpp)$")
_FUNCTIONS = ("function", "method")
_KINDS = {"object": 1, "function": 2, "method": 2, "macro": 2, "constant": 3}
_LESSER = ("overload", ".setter", ".deleter")


@dataclass(frozen=True, slots=True)
class OutlinedFile:
    """A parsed file with the ids of its scopes."""

    path: str
    file_id: str
    outline: Outline
    ids: tuple[str, ...]  # of the scope of each definition


class FileView:
    """A file's definitions by name and the names that its imports bind."""

    __slots__ = (
        "bound",
        "definitions",
        "dotted",
        "file_id",
        "ids",
        "imports",
        "inner",
        "language",
        "opened",
        "parts",
        "path",
        "qualified",
        "rules",
        "scoped",
        "top",
        "wildcards",
    )

    def __init__(self, known: OutlinedFile, rules: NameRules) -> None:
        self.path, self.file_id, self.ids = known.path, known.file_id, known.ids
        self.rules = rules
        self.language = known.outline.language or ""
        self.definitions = known.outline.definitions
        self.imports: list[Import] = []
        self.top: dict[str, int] = {}
        self.inner: dict[int, dict[str, int]] = {}
        self.qualified: dict[str, int] = {}
        self.parts: dict[str, list[int]] = {}  # the places in which a type is written
        self._lay_out()
        self.bound: dict[str, list[Bound]] = {}
        self.scoped: dict[int, dict[str, list[Bound]]] = {}
        self.dotted: set[str] = set()
        self.wildcards: list[tuple[int, Import]] = []  # with the scope in which they hold
        self._bind(known.outline.imports)
        self.opened = [
            found.module.replace("::", ".")
            for _, found in self.wildcards
            if rules.opens_namespaces and not _HEADER.search(found.module)
        ]  # namespaces whose names need no prefix

    def has_name(self, name: str) -> bool:
        """Tell whether a definition in the file has this simple name."""
        return any(definition.name == name for definition in self.definitions[1:])

    def is_around(self, outer: int, number: int) -> bool:
        """Tell whether a definition encloses another one."""
        parent = self.definitions[number].parent
        while parent is not None:
            if parent == outer:
                return True
            parent = self.definitions[parent].parent
        return False

    def find_owner(self, number: int) -> str:
        """Return the qualified name of the type of a method that is written outside of it."""
        definition = self.definitions[number]
        name, parent = definition.qualified_name, definition.parent
        expected = definition.name
        if parent is not None:
            expected = f"{self.definitions[parent].qualified_name}.{expected}"
        return "" if name == expected else name[: -len(definition.name) - 1]

    def _lay_out(self) -> None:
        definitions = self.definitions
        for number in range(1, len(definitions)):
            definition = definitions[number]
            name, full, parent = definition.name, definition.qualified_name, definition.parent
            if definition.type == "impl" and not self.rules.impl_adds_members:
                continue
            if definition.type in HOLDERS:
                self.parts.setdefault(full, []).append(number)
                if definition.type == "impl":  # it adds to a type and does not define it
                    continue
            if definition.type in _FUNCTIONS and full.endswith(f"{name}.{name}"):
                continue  # a constructor: the name means its type
            if parent is not None:
                self._put(self.inner.setdefault(parent, {}), name, number)
            elif full == name:
                self._put(self.top, name, number)
            if parent is None or definitions[parent].type != "impl" or self.rules.impl_adds_members:
                self._put(self.qualified, full, number)

    def _put(self, names: dict[str, int], name: str, number: int) -> None:
        known = names.get(name)
        if known is None or self._rank(number) < self._rank(known):
            names[name] = number

    def _rank(self, number: int) -> tuple[int, bool, int]:
        """Order definitions of one name: types first, then what has a body."""
        definition = self.definitions[number]
        kind = _KINDS.get(definition.type, 0)
        if self.rules.modules_are_types and definition.type == "type":
            kind = len(_KINDS)  # it is not a module, and may have a function's name
        lesser = any(mark.endswith(_LESSER) for mark in definition.decorators)
        lines = definition.start_line - definition.end_line
        return kind, lesser, 0 if self.rules.first_definition else lines

    def _bind(self, statements: tuple[Import, ...]) -> None:
        starts = [definition.start_line for definition in self.definitions]
        for statement in statements:
            scope = self._find_scope(statement.line, starts)
            found = (
                self._from_file(statement, scope) if scope and self.rules.path_names else statement
            )
            self.imports.append(found)
            if found.wildcard:
                self.wildcards.append((scope, found))
            place = self.scoped.setdefault(scope, {}) if scope else self.bound
            for name, local in found.names:
                place.setdefault(local, []).append((found, name))
            if found.alias:
                place.setdefault(found.alias, []).append((found, None))
                if "." in found.alias:
                    self.dotted.add(found.alias)

    def _find_scope(self, line: int, starts: list[int]) -> int:
        """Return the innermost definition around a line."""
        number: int | None = bisect_right(starts, line) - 1
        while number is not None and number > FILE:
            definition = self.definitions[number]
            if definition.start_line < line <= definition.end_line:
                return number
            number = definition.parent
        return FILE

    def _from_file(self, found: Import, scope: int) -> Import:
        """Return an import of an inner module as its file would write it, with `super` resolved."""
        module = found.module
        number: int | None = scope
        while number is not None:
            if self.definitions[number].type == "module" and module.startswith("super"):
                rest = module.removeprefix("super").removeprefix("::")
                module = rest if rest.startswith("super") else f"self::{rest}".removesuffix("::")
            number = self.definitions[number].parent
        return replace(found, module=module)
