"""Finder: how one language gets from a module's name to files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ragforge.brain.modules.paths import Paths

Files: TypeAlias = tuple[str, ...]
Located: TypeAlias = tuple[Files, tuple[str, ...]]

NOTHING: Located = ((), ())


class Finder:
    """What every language answers; a language overrides what it has."""

    def __init__(self, paths: Paths, manifests: Mapping[str, str]) -> None:
        self._paths = paths

    def locate(self, importer: str, module: str) -> Located:
        """Return the files of a module, and the parts of its name that are no module."""
        return NOTHING

    def within(self, importer: str, module: str, name: str) -> Files:
        """Return the files of a module that is a member of another one."""
        return ()

    def siblings(self, path: str) -> Files:
        """Return the other files of the same package, where files of one share their names."""
        return ()

    def library(self, module: str) -> str | None:
        """Return the library's name, None if the module can only be one of the project."""
        return None
