"""Project graph: the relations of some files; other files are loaded as needed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from ragforge.brain.graph.exact import ExactRelations
from ragforge.brain.graph.exports import ImportedModule
from ragforge.brain.graph.members import Interfaces
from ragforge.brain.graph.name_index import (
    FILE,
    ByName,
    FileView,
    Lookup,
    Modules,
    NameIndex,
    OutlinedFile,
    Target,
)
from ragforge.brain.graph.resolve import Resolver
from ragforge.brain.languages.language import Import
from ragforge.brain.languages.table import find_family, find_language, pick_manifests
from ragforge.brain.parse.outline import HOLDERS, TYPES, Definition
from ragforge.brain.parse.read_source import ReadFile, make_file_id, read_file
from ragforge.brain.parse.source import FUNCTIONS
from ragforge.domain.code import File, FileMark, Relation, RelationKind, ScopeFilter, ScopeName
from ragforge.domain.schema import SCOPE_NAME
from ragforge.ports.store import Records

MANIFEST_CHARS = 200_000

Edge: TypeAlias = tuple[RelationKind, str, str]


def read_manifests(root: Path, paths: Iterable[str]) -> dict[str, str]:
    """Return the texts of the manifests, which decide what imports mean, by path."""
    found = {}
    for path in pick_manifests(paths):
        with suppress(OSError):
            text = (root / path).read_text("utf-8", errors="replace")
            found[path] = text[:MANIFEST_CHARS]
    return found


def find_type_families(files: Iterable[File]) -> set[str]:
    """Return the families of those files' languages in which any file may use a type."""
    languages = {find_language(file.language) for file in files}
    return {known.names.family for known in languages if known and known.names.project_types}


class ProjectGraph:
    """Finds relations in a project; files that were not just read are read from the disk."""

    def __init__(
        self,
        root: Path,
        project_id: str,
        read: Mapping[str, ReadFile],
        modules: Modules,
        files: Mapping[str, File],
        stored: Mapping[str, File | FileMark],
        exact: ExactRelations | None = None,
    ) -> None:
        self._root = str(root)
        self._project_id = project_id
        self._read = read
        self._files = files  # all of them, or those to relate if these need no other's types
        self._stored = stored  # all of them
        self._known: dict[str, OutlinedFile | None] = {}
        self._types: dict[tuple[str | None, str], set[tuple[str, str]]] = defaultdict(set)
        self._exact = exact
        self.missed: set[str] = set()  # files that changed since they were stored
        self._relater = Relater(self._look_up, modules, self._find_types)

    async def load_types(self, records: Records, wanted: Collection[str]) -> None:
        """Load the names of all types, for languages in which any file may use them."""
        families = find_type_families(self._files[path] for path in wanted)
        if not families:
            return
        paths = [
            path for path, file in self._files.items() if find_family(file.language) in families
        ]
        for name in await records.find(SCOPE_NAME, ScopeFilter(self._project_id, paths)):
            if name.type in HOLDERS:
                self._add_type(name)

    def _add_type(self, name: ScopeName) -> None:
        kin = find_family(self._files[name.file].language)
        place = (name.file, name.qualified_name)
        self._types[kin, name.qualified_name].add(place)
        self._types[kin, name.name].add(place)

    def find_relations(self, paths: Sequence[str]) -> list[Relation]:
        """Return all relations that start at these files and their scopes."""
        return [relation for path in paths for relation in self._find_relations(path)]

    def _find_relations(self, path: str) -> Sequence[Relation]:
        own = self._relater.find_relations(path)
        known = self._look_up(path)
        if self._exact is None or known is None or not known.ids or not self._is_exact(path):
            return own  # an empty file has no scope
        targets = {one.target for one in own}
        files = {
            uuid: other.path
            for other in self._known.values()
            if other is not None
            for uuid in targets.intersection(other.ids)
        }
        return self._exact.replace(known, own, self._look_up, files, self._is_exact)

    def _is_exact(self, path: str) -> bool:
        """Tell whether the index of an exact indexer describes a file as it is."""
        stored = self._stored.get(path)
        return (
            self._exact is not None
            and stored is not None
            and self._exact.is_fresh(path, stored.hash)
        )

    def _look_up(self, path: str) -> OutlinedFile | None:
        if path not in self._known:
            self._known[path] = self._load(path)
        return self._known[path]

    def _load(self, path: str) -> OutlinedFile | None:
        if path not in self._stored:
            return None
        found = self._read.get(path)
        if found is None:
            found = read_file(self._root, self._project_id, path, 0)
            if found.parsed is None or found.parsed.file.hash != self._stored[path].hash:
                self.missed.add(path)  # the next run relates it
                return None
        if found.outline is None:
            return None
        return OutlinedFile(path, make_file_id(self._project_id, path), found.outline, found.ids)

    def _find_types(self, kin: str, name: str) -> list[tuple[str, int]]:
        places = []
        for path, qualified_name in sorted(self._types.get((kin, name), ())):
            known = self._look_up(path)
            definitions = known.outline.definitions if known is not None else ()
            for number, definition in enumerate(definitions[1:], 1):  # the first is the file
                if definition.qualified_name == qualified_name and definition.type in HOLDERS:
                    places.append((path, number))
        return places


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
        self._interfaces = Interfaces(self._index, self._names.members)
        self._files_in_use: dict[str, frozenset[str]] = {}

    def find_relations(self, path: str) -> list[Relation]:
        """Return the relations that start at a file and its scopes, sorted, each once."""
        known = self._lookup(path)
        if known is None:
            return []
        view = self._index.find_view(path)
        found: set[Edge] = set()
        if view is not None:
            found.update(self._relate_file(view))
        for number, definition in enumerate(known.outline.definitions):
            holder = None if definition.parent is None else known.ids[definition.parent]
            if view is not None:
                holder = self._find_type_around(view, number) or holder
                found.update(self._relate_scope(view, number))
            if holder is not None:
                found.add(("HAS_PARENT", known.ids[number], holder))
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

    def _find_type_around(self, view: FileView, number: int) -> str | None:
        """Return the type of an implementation, or of a method that is written outside of it."""
        definition, names = view.definitions[number], self._names
        if definition.type == "impl" and view.rules.impl_adds_members:
            around = definition.parent if definition.parent is not None else FILE
            kind = names.resolve_type(view, around, definition.name)
            return None if kind is None else self._index.get_id(kind)
        owner = view.find_owner(number) if definition.type in FUNCTIONS else ""
        kinds = names.members.find_owners(view, owner) if owner else []
        return self._index.get_id(kinds[0]) if len(kinds) == 1 else None

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
        definition, members = view.definitions[number], self._names.members
        if definition.type in TYPES:
            place = (view.path, number)
            found = (*members.find_all_bases(place), *self._interfaces.find_implemented(place))
            return tuple(dict.fromkeys(found))
        return members.find_bases((view.path, number)) if definition.bases else ()

    def _find_used(self, view: FileView, number: int) -> Iterator[Target]:
        definition, names = view.definitions[number], self._names
        around = definition.parent if definition.parent is not None else FILE
        calls = tuple(_list_calls(view, definition))
        found = [names.resolve_use(view, number, name, True) for name in calls]
        found += [names.resolve_use(view, number, name, False) for name in definition.uses]
        heads = {name.partition(".")[0] for name in (*calls, *definition.uses) if "." in name}
        found += [names.resolve_constant(view, number, name) for name in heads if name.isupper()]
        found += [names.resolve_use(view, around, mark, True) for mark in definition.decorators]
        if number == FILE:
            found += self._list_passed_on(view)
        if definition.type == "impl":
            found.append(names.resolve_type(view, around, definition.name))
        # An enum is used with its variant.
        found += [self._index.find_enum(target) for target in found if target is not None]
        return (target for target in found if target is not None)

    def _list_passed_on(self, view: FileView) -> Iterator[Target]:
        """Yield what a file imports in order to show it as its own."""
        for found in view.imports:
            for name, _ in found.names if found.passed_on else ():
                meaning = self._names.exports.resolve_import(view, found, name)
                if meaning is not None and not isinstance(meaning, ImportedModule):
                    yield meaning


def _list_calls(view: FileView, definition: Definition) -> Iterator[str]:
    """Yield the called names. `Repo.new.save` also calls `Repo.new`."""
    yield from definition.calls
    if view.rules.maker:
        made = f".{view.rules.maker}"
        for name in definition.calls:
            before, found, after = name.partition(f"{made}.")
            if found and after:
                yield f"{before}{made}"
