"""Types: which types, modules and namespaces a project has, by name."""

from __future__ import annotations

from ragforge.brain.languages.table import find_family
from ragforge.brain.parse.outline import HOLDERS, Outline


class TypeNames:
    """An index that grows and shrinks file by file.

    Extensions and implementations are listed under the name of their type.
    """

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], set[tuple[str, int]]] = {}
        self._keys: dict[str, set[tuple[str, str]]] = {}

    def add(self, path: str, outline: Outline) -> None:
        """Put a file's types in, instead of those it had."""
        self.remove(path)
        family = find_family(outline.language)
        if family is None:
            return
        keys = self._keys[path] = set()
        for number, definition in enumerate(outline.definitions[1:], 1):  # the file is not a type
            if definition.type in HOLDERS:
                for name in (definition.name, definition.qualified_name):
                    keys.add((family, name))
                    self._places.setdefault((family, name), set()).add((path, number))

    def remove(self, path: str) -> None:
        """Take a file's types out, if it has any."""
        for key in self._keys.pop(path, ()):
            places = {place for place in self._places[key] if place[0] != path}
            if places:
                self._places[key] = places
            else:
                del self._places[key]

    def __call__(self, family: str, name: str) -> list[tuple[str, int]]:
        """Return the file and number of each definition with a simple or qualified name."""
        return sorted(self._places.get((family, name), ()))
