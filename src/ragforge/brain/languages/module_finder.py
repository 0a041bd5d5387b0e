"""Module finder: how one language gets from a module's name to files of the project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ragforge.brain.languages.paths import ProjectPaths

Files: TypeAlias = tuple[str, ...]
Located: TypeAlias = tuple[Files, tuple[str, ...]]

NOTHING: Located = ((), ())


class ModuleFinder:
    """The modules of a project in one language; a language overrides what it has."""

    def __init__(self, paths: ProjectPaths, manifests: Mapping[str, str]) -> None:
        self._paths = paths

    def locate(self, importer: str, module: str) -> Located:
        """Return the files of a module, and the last parts of its name that are not a module."""
        return NOTHING

    def find_submodule(self, importer: str, module: str, name: str) -> Files:
        """Return the files of a module that is a member of another one."""
        return ()

    def find_siblings(self, path: str) -> Files:
        """Return the other files of the same package, where files of one share their names."""
        return ()

    def find_packages(self, path: str) -> Files:
        """Return the files whose importers also reach the names of this file through them."""
        return ()

    def find_library(self, module: str) -> str | None:
        """Return the library's name, None if the module can only be one of the project."""
        return None
