"""Edges: the relations that start at a file and its scopes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ragforge.brain.graph.exports import ImportedModule
from ragforge.brain.graph.file_view import FILE, FileView
from ragforge.brain.graph.modules import Modules
from ragforge.brain.graph.name_index import ByName, Lookup, NameIndex, Target
from ragforge.brain.graph.resolve import Resolver
from ragforge.brain.parse import Import
from ragforge.brain.parse.outline import HOLDERS
from ragforge.domain.code import Relation, RelationKind

Edge: TypeAlias = tuple[RelationKind, str, str]


class Relater:
    """Finds the relations of files in one state of a project.

    Lookups are cached: after files have changed a new one is needed. The order in which files
    are related does not matter. A missing edge is acceptable; a wrong one is an error.
    """

    def __init__(self, lookup: Lookup, modules: Modules, by_name: ByName) -> None:
        self._lookup = lookup
        self._modules = modules
        self._index = NameIndex(lookup, modules, by_name)
        self._names = Resolver(self._index)
        self._files_in_use: dict[str, frozenset[str]] = {}

    def find_relations(self, path: str) -> list[Relation]:
        """Return the relations that start at a file and its scopes, sorted, each once."""
        known = self._lookup(path)
        if known is None:
            return []
        found: set[Edge] = {
            ("HAS_PARENT", known.ids[number], known.ids[definition.parent])
            for number, definition in enumerate(known.outline.definitions)
            if definition.parent is not None
        }
        view = self._index.find_view(path)
        if view is not None:
            found.update(self._relate_file(view))
            for number in range(len(view.definitions)):
                found.update(self._relate_scope(view, number))
        return [Relation(*edge) for edge in sorted(found)]

    def find_imports(self, path: str) -> tuple[str, ...]:
        """Return the files of the project that a file imports, sorted."""
        view = self._index.find_view(path)
        if view is None:
            return ()
        files = {file for found in view.imports for file in self._list_files(view, found)}
        return tuple(sorted(files - {path}))

    def _relate_file(self, view: FileView) -> Iterator[Edge]:
        for path in self.find_imports(view.path):
            target = self._lookup(path)
            if target is not None:
                yield "IMPORTS", view.file_id, target.file_id
        for found in view.imports:
            if not any(self._list_files(view, found)) and not self._is_of_project(view, found):
                library = self._modules.find_library(view.language, found.module)
                if library:
                    yield "USES_LIBRARY", view.file_id, library

    def _list_files(self, view: FileView, found: Import) -> Iterator[str]:
        """Yield the files of an imported module, or of the imported names that are modules."""
        if not found.names:
            files = self._modules.find(view.path, view.language, found.module)
            if found.wildcard and view.rules.wildcard_by_use:  # of its classes those in use
                files = tuple(file for file in files if file in self._find_used_files(view))
            yield from files
            if not files and not found.wildcard:
                yield from self._find_file(view, found, None)
        for name, _ in found.names:
            files = tuple(self._find_file(view, found, name))
            yield from files or self._find_single(view, found.module)

    def _find_file(self, view: FileView, found: Import, name: str | None) -> Iterator[str]:
        meaning = self._names.exports.resolve_import(view, found, name)
        if isinstance(meaning, ImportedModule):
            yield from meaning.files
        elif meaning is not None:
            module = self._find_single(
                view, found.module
            )  # a file that re-exports is imported itself
            yield from module or (meaning[0],)

    def _find_single(self, view: FileView, module: str) -> tuple[str, ...]:
        files = self._modules.find(view.path, view.language, module)
        return files if len(files) == 1 else ()

    def _is_of_project(self, view: FileView, found: Import) -> bool:
        """Tell whether a module is a name of the file, or a namespace of the project."""
        rules = view.rules
        module = found.module.replace("\\", ".").replace("::", ".")
        top = module.partition(".")[0]
        if rules.own_names_first and top not in found.alias.split("."):
            is_bound = any(statement is not found for statement, _ in view.bound.get(top, ()))
            return is_bound or view.has_name(top)
        if not rules.project_types or rules.bare_types:
            return False
        names = (module, *(f"{module}.{name}" for name, _ in found.names))
        if rules.modules_are_types:
            names = (*names, top)
        return any(self._index.find_places(rules.family, name) for name in names)

    def _relate_scope(self, view: FileView, number: int) -> Iterator[Edge]:
        definition, own = view.definitions[number], view.ids[number]
        bases = self._find_bases(view, number)
        if definition.type in HOLDERS:
            for base in bases:
                yield "INHERITS_FROM", own, self._index.get_id(base)
            bases = ()
        for target in {*self._find_used(view, number), *bases}:  # of a class without a name in it
            inside = target[0] == view.path and view.is_around(target[1], number)
            if target != (view.path, number) and not inside:
                yield "CONSUMES", own, self._index.get_id(target)

    def _find_used_files(self, view: FileView) -> frozenset[str]:
        known = self._files_in_use.get(view.path)
        if known is None:
            numbers = range(len(view.definitions))
            bases = (base for number in numbers for base in self._find_bases(view, number))
            used = (target for number in numbers for target in self._find_used(view, number))
            known = frozenset(path for targets in (bases, used) for path, _ in targets)
            self._files_in_use[view.path] = known
        return known

    def _find_bases(self, view: FileView, number: int) -> tuple[Target, ...]:
        has_bases = view.definitions[number].bases
        return self._names.members.find_bases((view.path, number)) if has_bases else ()

    def _find_used(self, view: FileView, number: int) -> Iterator[Target]:
        definition, names = view.definitions[number], self._names
        around = definition.parent if definition.parent is not None else FILE
        found = [names.resolve_use(view, number, name, True) for name in definition.calls]
        found += [names.resolve_use(view, number, name, False) for name in definition.uses]
        found += [names.resolve_use(view, around, mark, True) for mark in definition.decorators]
        if definition.type == "impl":
            found.append(names.resolve_type(view, around, definition.name))
        return (target for target in found if target is not None)
