"""Name index: the files of a project by the names in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ragforge.brain.graph.file_view import FILE, FileView, OutlinedFile
from ragforge.brain.graph.modules import Modules
from ragforge.brain.languages.table import find_language
from ragforge.brain.parse.outline import SPACES, TYPES, Definition

Target: TypeAlias = tuple[str, int]  # a file and the number of a definition in it
Lookup: TypeAlias = Callable[[str], OutlinedFile | None]
ByName: TypeAlias = Callable[[str, str], Sequence[Target]]

MAX_DEPTH = 5  # of bases, re-exports and includes
_MAX_REACHED = 400


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
        view = self.find_view(target[0])
        assert view is not None
        return view

    def get_id(self, target: Target) -> str:
        """Return the id of a definition's scope."""
        return self.get_view(target).ids[target[1]]

    def get_definition(self, target: Target) -> Definition:
        """Return a definition."""
        return self.get_view(target).definitions[target[1]]

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
