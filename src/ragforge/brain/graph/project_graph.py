"""Project graph: the relations of some files; other files are loaded as needed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ragforge.brain.graph.edges import Relater
from ragforge.brain.graph.file_view import OutlinedFile
from ragforge.brain.graph.modules import Modules
from ragforge.brain.languages.table import find_family, find_language, pick_manifests
from ragforge.brain.parse.outline import HOLDERS
from ragforge.brain.parse.read_source import ReadFile, make_file_id, read_file
from ragforge.domain.code import File, FileMark, Relation, ScopeFilter, ScopeName
from ragforge.domain.schema import SCOPE_NAME
from ragforge.ports.records import Records

MANIFEST_CHARS = 200_000


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
    ) -> None:
        self._root = str(root)
        self._project_id = project_id
        self._read = read
        self._files = files  # all of them, or those to relate if these need no other's types
        self._stored = stored  # all of them
        self._known: dict[str, OutlinedFile | None] = {}
        self._types: dict[tuple[str | None, str], set[tuple[str, str]]] = defaultdict(set)
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
        return [relation for path in paths for relation in self._relater.find_relations(path)]

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
