"""Name index: the files of a project by the names in them, and by the names of modules."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from ragforge.brain.languages.language import Import, Located, ModuleFinder, NameRules, ProjectPaths
from ragforge.brain.languages.table import detect_language, find_language
from ragforge.brain.parse.outline import HOLDERS, SPACES, TYPES, Definition, Outline
from ragforge.records import dataclass

FILE = 0  # the number of the definition that is the file itself
Bound = tuple[Import, str | None]  # an import and the name it brings; None: the module itself

_HEADER = re.compile(r"/|\.(?:h|hh|hpp|hxx|inc|inl|c|cc|cpp)$")
_FUNCTIONS = ("function", "method")
_KINDS = {"object": 1, "function": 2, "method": 2, "macro": 2, "constant": 3, "variant": 3}
_LESSER = ("overload", ".setter", ".deleter")
Target: TypeAlias = tuple[str, int]  # a file and the number of a definition in it
ByName: TypeAlias = Callable[[str, str], Sequence[Target]]

MAX_DEPTH = 5  # of bases, re-exports and includes
_MAX_REACHED = 400


@dataclass(frozen=True, slots=True)
class OutlinedFile:
    """A parsed file with the ids of its scopes."""

    path: str
    file_id: str
    outline: Outline
    ids: tuple[str, ...]  # of the scope of each definition


class FileView:
    """A file's definitions by name and the names that its imports bind."""

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
            if definition.type in _FUNCTIONS and f".{full}".endswith(f".{name}.{name}"):
                continue  # a constructor: the name means its type
            if parent is not None:
                inner = self.inner.setdefault(parent, {})
                self._put(inner, name, number)
                if (prefix := self.rules.static_prefix) and definition.signature.startswith(prefix):
                    self._put(inner, prefix + name, number)  # an object's may have the same name
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


Lookup: TypeAlias = Callable[[str], OutlinedFile | None]


class NameIndex:
    """Views of files, made when first needed; answers do not depend on the order of calls."""

    def __init__(self, lookup: Lookup, modules: Modules, by_name: ByName) -> None:
        self._lookup, self._by_name = lookup, by_name
        self.modules = modules
        self._views: dict[str, FileView | None] = {}
        self._tables: dict[tuple[str, ...], dict[str, Target | None]] = {}
        self._reached: dict[str, dict[str, FileView]] = {}
        self._places: dict[tuple[str, str], tuple[Target, ...]] = {}
        self._only: dict[tuple[str, str], Target | None] = {}
        self._includable: dict[str, list[Target]] = {}  # by qualified name, of the files read

    def find_view(self, path: str) -> FileView | None:
        """Return the view of a file, None if it is not in the project or not parsed."""
        if path not in self._views:
            known = self._lookup(path)
            language = find_language(known.outline.language) if known else None
            view = self._views[path] = (
                FileView(known, language.names) if known and language else None
            )
            if view and view.rules.includes:
                for name, number in view.qualified.items():
                    self._includable.setdefault(name, []).append((path, number))
        return self._views[path]

    def get_view(self, target: Target) -> FileView:
        """Return the view of the file that a definition is in."""
        view = self._views.get(target[0]) or self.find_view(target[0])
        assert view is not None
        return view

    def get_id(self, target: Target) -> str:
        """Return the id of a definition's scope."""
        return self.get_view(target).ids[target[1]]

    def get_definition(self, target: Target) -> Definition:
        """Return a definition."""
        return self.get_view(target).definitions[target[1]]

    def find_enum(self, target: Target) -> Target | None:
        """Return the type of a variant; None of anything else."""
        definition = self.get_definition(target)
        is_variant = definition.type == "variant" and definition.parent is not None
        return (target[0], definition.parent or FILE) if is_variant else None

    def is_type(self, target: Target) -> bool:
        """Tell whether a definition can be inherited from."""
        kind = self.get_definition(target).type
        return kind in TYPES or (kind in SPACES and kind != "namespace")

    def build_table(self, files: tuple[str, ...]) -> dict[str, Target | None]:
        """Return the definitions of a package by qualified name, None for ambiguous names."""
        table = self._tables.get(files)
        if table is None:
            table = self._tables[files] = {}
            for path in files:
                view = self.find_view(path)
                for name, number in view.qualified.items() if view else ():
                    table[name] = None if name in table else (path, number)
        return table

    def get_package(self, view: FileView) -> dict[str, Target | None]:
        """Return the names of the package that a file belongs to."""
        return self.build_table(self.modules.find_siblings(view.path, view.language))

    def find_places(self, family: str, name: str) -> tuple[Target, ...]:
        """Return where the types with a qualified name are written."""
        key = (family, name)
        known = self._places.get(key)
        if known is None:
            known = self._places[key] = tuple(
                (path, number)
                for path, number in sorted(self._by_name(family, name))
                if number != FILE
                and (view := self.find_view(path))
                and view.definitions[number].qualified_name == name
            )
        return known

    def find_only_type(self, family: str, name: str) -> Target | None:
        """Return the type with a qualified name, if there is exactly one.

        Of a type that is written in several files, the file named after it counts.
        """
        key = (family, name)
        if key not in self._only:
            found = [
                place
                for place in self.find_places(family, name)
                if self.get_definition(place).type not in ("impl", "namespace")
            ]
            if len(found) > 1:
                last = name.rpartition(".")[2].replace("_", "").lower()
                found = [place for place in found if _normalise_stem(place[0]) == last]
            self._only[key] = found[0] if len(found) == 1 else None
        return self._only[key]

    def find_reached(self, view: FileView) -> dict[str, FileView]:
        """Return the files that a file imports by a wildcard, directly or through others."""
        known = self._reached.get(view.path)
        if known is None:
            known = {}
            level = [view]
            for _ in range(MAX_DEPTH):
                level = [
                    other
                    for path in sorted(
                        {path for one in level for path in self._list_taken_over(one)}
                    )
                    if path != view.path and path not in known and (other := self.find_view(path))
                ]
                if len(known) + len(level) > _MAX_REACHED:
                    break
                known.update((other.path, other) for other in level)
            self._reached[view.path] = known
        return known

    def find_included(self, view: FileView, name: str) -> Target | None:
        """Return the definition with a qualified name in exactly one of the included files."""
        reached = self.find_reached(view)  # first: it fills `_includable`
        found = [
            target
            for target in self._includable.get(name, ())
            if target[0] in reached and self.get_definition(target).type != "namespace"
        ]
        return found[0] if len(found) == 1 else None

    def _list_taken_over(self, view: FileView) -> list[str]:
        find = self.modules.locate
        found: list[str] = []
        for scope, statement in view.wildcards:
            files, left = find(view.path, view.language, statement.module)
            if scope == FILE and not left and len(files) == 1:
                found += files
        return found


def _normalise_stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].replace("_", "").lower()


class Modules:
    """The modules of a project, found by the rules of each language.

    An answer is certain or empty: if a name could mean two files neither is returned, unless
    they form one package. No file is read; `manifests` maps paths to texts.
    """

    def __init__(self, paths: Collection[str], manifests: Mapping[str, str] | None = None) -> None:
        self._paths = ProjectPaths(paths)
        self._manifests = dict(manifests or {})
        self._finders: dict[str, ModuleFinder] = {}
        self._located: dict[tuple[str, str, str], Located] = {}

    def find(self, importer: str, language: str, module: str) -> tuple[str, ...]:
        """Return the files of a module that a file imports, () if it is not of the project."""
        return self.locate(importer, language, module)[0]

    def locate(self, importer: str, language: str, module: str) -> Located:
        """Return the files and what is left of the name: `crate::shapes::Square` leaves Square."""
        key = (importer, language, module)
        found = self._located.get(key)
        if found is None:
            found = self._located[key] = self._find_finder(language).locate(importer, module)
        return found

    def find_submodule(
        self, importer: str, language: str, module: str, name: str
    ) -> tuple[str, ...]:
        """Return the files of a name imported from a module, if that name is a module itself."""
        return self._find_finder(language).find_submodule(importer, module, name)

    def find_siblings(self, path: str, language: str) -> tuple[str, ...]:
        """Return the files of the same package, whose names need no import."""
        return self._find_finder(language).find_siblings(path)

    def find_packages(self, path: str) -> tuple[str, ...]:
        """Return the files whose importers also reach the names of a file through them."""
        return self._find_finder(detect_language(path) or "").find_packages(path)

    def find_library(self, language: str, module: str) -> str | None:
        """Return the library outside of the project that a module belongs to.

        None if the name can only mean something in the project.
        """
        return self._find_finder(language).find_library(module)

    def _find_finder(self, language: str) -> ModuleFinder:
        finder = self._finders.get(language)
        if finder is None:
            known = find_language(language)
            kind = known.modules if known else ModuleFinder
            finder = self._finders[language] = kind(self._paths, self._manifests)
        return finder
