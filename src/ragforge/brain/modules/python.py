"""Python's modules: files and packages below the directories that are import roots."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from ragforge.brain.modules.finder import NOTHING, Files, Finder, Located
from ragforge.brain.modules.paths import Paths, parent, stem, under

_SOURCES = (".py", ".pyi")
_OBVIOUS_ROOTS = ("", "src")


class PythonModules(Finder):
    """Roots are the directories above the outermost packages, the project itself and `src`."""

    def __init__(self, paths: Paths, manifests: Mapping[str, str]) -> None:
        super().__init__(paths, manifests)
        files = [path for path in paths.all if path.endswith(_SOURCES)]
        self._packages = {parent(path) for path in files if stem(path) == "__init__"}
        self._roots: dict[str, set[str]] = {}  # by the names that can be imported from them
        self._root_of: dict[str, str] = {}
        for path in files:
            root = self._root(parent(path))
            top = path[len(root) + 1 if root else 0 :].partition("/")[0]
            self._roots.setdefault(top.rpartition(".")[0] or top, set()).add(root)

    def locate(self, importer: str, module: str) -> Located:
        found = self._found(parent(importer), module)
        return (found, ()) if found else NOTHING

    def within(self, importer: str, module: str, name: str) -> Files:
        return self.locate(importer, f"{module}{'' if module.endswith('.') else '.'}{name}")[0]

    def library(self, module: str) -> str | None:
        top = module.partition(".")[0]
        if not top or (top in self._roots and top not in sys.stdlib_module_names):
            return None
        return top

    def _found(self, directory: str, module: str) -> Files:
        name = module.lstrip(".")
        if level := len(module) - len(name):
            return self._relative(directory, level, name)
        own = self._root(directory)
        for root in dict.fromkeys((own, *_OBVIOUS_ROOTS)):
            if found := self._at(root, name):
                return found
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names:  # not what a stranger's `signal.py` is named after
            return ()
        found_elsewhere = {self._at(root, name) for root in self._roots.get(top, ())} - {()}
        return found_elsewhere.pop() if len(found_elsewhere) == 1 else ()

    def _relative(self, directory: str, level: int, name: str) -> Files:
        for _ in range(level - 1):
            if not directory:
                return ()
            directory = parent(directory)
        if name:
            return self._at(directory, name)
        return self._paths.first(under(directory, f"__init__{end}") for end in _SOURCES)

    def _at(self, root: str, name: str) -> Files:
        base = under(root, name.replace(".", "/"))
        return self._paths.first(
            f"{base}{middle}{end}" for end in _SOURCES for middle in ("", "/__init__")
        )

    def _root(self, directory: str) -> str:
        """Return the directory above the outermost package around a directory."""
        known = self._root_of.get(directory)
        if known is None:
            inside = directory and directory in self._packages
            known = self._root(parent(directory)) if inside else directory
            self._root_of[directory] = known
        return known
