"""Modules: which files of a project a module's name means."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ragforge.brain.languages.module_finder import Located, ModuleFinder, ProjectPaths
from ragforge.brain.languages.table import detect_language, find_language


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
