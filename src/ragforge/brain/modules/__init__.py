"""Modules: which files of a project a module name stands for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib import import_module

from ragforge.brain.modules.finder import Finder, Located
from ragforge.brain.modules.paths import Paths

__all__ = ["Modules"]


class Modules:
    """The modules of a project, found as each language finds them.

    An answer is certain or empty: of two files that could be meant none is returned, unless
    they make up one package. Nothing is read; manifests are given as texts by their path.
    """

    def __init__(self, paths: Collection[str], manifests: Mapping[str, str] | None = None) -> None:
        self._paths = Paths(paths)
        self._manifests = dict(manifests or {})
        self._finders: dict[str, Finder] = {}
        self._located: dict[tuple[str, str, str], Located] = {}

    def find(self, importer: str, language: str, module: str) -> tuple[str, ...]:
        """Return the files that a module is when a file imports it, () if it is not of here."""
        return self.locate(importer, language, module)[0]

    def locate(self, importer: str, language: str, module: str) -> Located:
        """Return the files and what is left of the name: `crate::shapes::Square` leaves Square."""
        key = (importer, language, module)
        found = self._located.get(key)
        if found is None:
            found = self._located[key] = self._finder(language).locate(importer, module)
        return found

    def submodule(self, importer: str, language: str, module: str, name: str) -> tuple[str, ...]:
        """Return the files of a name imported from a module, if that name is a module itself."""
        return self._finder(language).within(importer, module, name)

    def siblings(self, path: str, language: str) -> tuple[str, ...]:
        """Return the files whose names a file knows without importing them: its package."""
        return self._finder(language).siblings(path)

    def library(self, language: str, module: str) -> str | None:
        """Return the library outside of the project that a module belongs to.

        None where the name can only mean something in the project.
        """
        return self._finder(language).library(module)

    def _finder(self, language: str) -> Finder:
        finder = self._finders.get(language)
        if finder is None:
            home, _, name = _FINDERS.get(language, "finder:Finder").partition(":")
            kind: type[Finder] = getattr(import_module(f"ragforge.brain.modules.{home}"), name)
            finder = self._finders[language] = kind(self._paths, self._manifests)
        return finder


_FINDERS = {
    "bash": "scripts:ShellModules",
    "c": "c:CModules",
    "cpp": "c:CModules",
    "csharp": "named:NamespaceModules",
    "elixir": "named:ElixirModules",
    "go": "go:GoModules",
    "haskell": "scripts:HaskellModules",
    "java": "jvm:JvmModules",
    "javascript": "javascript:JavaScriptModules",
    "kotlin": "jvm:JvmModules",
    "lua": "scripts:LuaModules",
    "php": "php:PhpModules",
    "python": "python:PythonModules",
    "ruby": "scripts:RubyModules",
    "rust": "rust:RustModules",
    "scala": "jvm:JvmModules",
    "swift": "named:SwiftModules",
    "tsx": "javascript:JavaScriptModules",
    "typescript": "javascript:JavaScriptModules",
    "zig": "zig:ZigModules",
}
"""In which file the modules of a language are found: most projects need one or two."""
