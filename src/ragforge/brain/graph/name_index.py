"""Atlas: every file of a project by the names in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ragforge.brain.graph.file_names import FILE, FileNames, OutlinedFile
from ragforge.brain.graph.modules import Modules
from ragforge.brain.languages.table import find_language
from ragforge.brain.parse import Definition
from ragforge.brain.parse.outline import SPACES, TYPES

Target: TypeAlias = tuple[str, int]  # a file and the number of a definition in it
Lookup: TypeAlias = Callable[[str], OutlinedFile | None]
ByName: TypeAlias = Callable[[str, str], Sequence[Target]]

MAX_DEPTH = 5  # of bases, re-exports and includes
_MAX_REACHED = 400


class NameIndex:
    """Files are read when they are first asked for; answers do not depend on the order."""

    def __init__(self, lookup: Lookup, modules: Modules, by_name: ByName) -> None:
        self._lookup, self._by_name = lookup, by_name
        self.modules = modules
        self._views: dict[str, FileNames | None] = {}
        self._tables: dict[tuple[str, ...], dict[str, Target | None]] = {}
        self._reached: dict[str, dict[str, FileNames]] = {}
        self._places: dict[tuple[str, str], tuple[Target, ...]] = {}
        self._only: dict[tuple[str, str], Target | None] = {}
        self._includable: dict[str, list[Target]] = {}  # by qualified name, of the files read

    def view(self, path: str) -> FileNames | None:
        """Return the names of a file, None if it is none of the project's or has no names."""
        if path not in self._views:
            known = self._lookup(path)
            language = find_language(known.outline.language) if known else None
            view = self._views[path] = (
                FileNames(known, language.names) if known and language else None
            )
            if view and view.rules.includes:
                for name, number in view.qualified.items():
                    self._includable.setdefault(name, []).append((path, number))
        return self._views[path]

    def view_of(self, target: Target) -> FileNames:
        """Return the names of the file that a definition is in."""
        view = self.view(target[0])
        assert view is not None
        return view

    def id_of(self, target: Target) -> str:
        """Return the id of a definition's scope."""
        return self.view_of(target).ids[target[1]]

    def definition(self, target: Target) -> Definition:
        """Return a definition."""
        return self.view_of(target).definitions[target[1]]

    def is_type(self, target: Target) -> bool:
        """Whether a definition can be inherited from."""
        kind = self.definition(target).type
        return kind in TYPES or (kind in SPACES and kind != "namespace")

    def table(self, files: tuple[str, ...]) -> dict[str, Target | None]:
        """Return the qualified names of a package; those with several meanings have none."""
        table = self._tables.get(files)
        if table is None:
            table = self._tables[files] = {}
            for path in files:
                view = self.view(path)
                for name, number in view.qualified.items() if view else ():
                    table[name] = None if name in table else (path, number)
        return table

    def package(self, view: FileNames) -> dict[str, Target | None]:
        """Return the names of the package that a file belongs to."""
        return self.table(self.modules.find_siblings(view.path, view.language))

    def places(self, family: str, name: str) -> tuple[Target, ...]:
        """Return where the types with a qualified name are written."""
        key = (family, name)
        known = self._places.get(key)
        if known is None:
            known = self._places[key] = tuple(
                (path, number)
                for path, number in sorted(self._by_name(family, name))
                if number != FILE
                and (view := self.view(path))
                and view.definitions[number].qualified_name == name
            )
        return known

    def only_type(self, family: str, name: str) -> Target | None:
        """Return the type with a qualified name, if there is one.

        Of a type that is written in several files, the place in the file of its name is meant.
        """
        key = (family, name)
        if key not in self._only:
            found = [
                place
                for place in self.places(family, name)
                if self.definition(place).type not in ("impl", "namespace")
            ]
            if len(found) > 1:
                last = name.rpartition(".")[2].replace("_", "").lower()
                found = [place for place in found if _plain_stem(place[0]) == last]
            self._only[key] = found[0] if len(found) == 1 else None
        return self._only[key]

    def reached(self, view: FileNames) -> dict[str, FileNames]:
        """Return the files whose names a file takes over whole, through others too."""
        known = self._reached.get(view.path)
        if known is None:
            known = {}
            level = [view]
            for _ in range(MAX_DEPTH):
                level = [
                    other
                    for path in sorted({path for one in level for path in self._taken_over(one)})
                    if path != view.path and path not in known and (other := self.view(path))
                ]
                if len(known) + len(level) > _MAX_REACHED:
                    break
                known.update((other.path, other) for other in level)
            self._reached[view.path] = known
        return known

    def included(self, view: FileNames, name: str) -> Target | None:
        """Return what has a qualified name in exactly one of the files that one includes."""
        reached = self.reached(view)  # first: these files are now among the includable
        found = [
            target
            for target in self._includable.get(name, ())
            if target[0] in reached and self.definition(target).type != "namespace"
        ]
        return found[0] if len(found) == 1 else None

    def _taken_over(self, view: FileNames) -> list[str]:
        find = self.modules.locate
        found: list[str] = []
        for scope, statement in view.wildcards:
            files, left = find(view.path, view.language, statement.module)
            if scope == FILE and not left and len(files) == 1:
                found += files
        return found


def _plain_stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].replace("_", "").lower()
