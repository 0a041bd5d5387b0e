"""Rust's modules: trees of files below the root of a crate."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping

from ragforge.brain.modules.finder import NOTHING, Files, Finder, Located
from ragforge.brain.modules.paths import Paths, ancestors, parent, stem, under

_ROOTS = ("lib.rs", "main.rs")
_ROOT_DIRECTORIES = frozenset(("tests", "examples", "benches", "bin"))
_SHIPPED = frozenset(("std", "core", "alloc", "proc_macro", "test"))


class RustModules(Finder):
    """Paths start at the crate, at this module, at the one above, or with a crate's name."""

    def __init__(self, paths: Paths, manifests: Mapping[str, str]) -> None:
        super().__init__(paths, manifests)
        named: dict[str, set[Files]] = {}
        for path in paths.all:
            if path.rpartition("/")[2] == "Cargo.toml":
                package, library = _names(path, manifests.get(path, ""))
                place = under(parent(path), library or "src/lib.rs")
                if root := paths.first((place,)):
                    named.setdefault(package.replace("-", "_"), set()).add(root)
        self._crates = {name: next(iter(roots)) for name, roots in named.items() if len(roots) == 1}

    def locate(self, importer: str, module: str) -> Located:
        first, *names = module.removeprefix("::").split("::")
        if first == "crate":
            return self._down(self._root(importer), names)
        if first == "self":
            return self._down((importer,), names)
        if first == "super":
            return self._up(importer, names)
        if first in self._crates:
            return self._down(self._crates[first], names)
        if first in _SHIPPED:
            return NOTHING
        child = self._child(importer, first)
        return self._down(child, names) if child else NOTHING

    def within(self, importer: str, module: str, name: str) -> Files:
        files, left = self.locate(importer, f"{module}::{name}")
        return () if left else files

    def library(self, module: str) -> str | None:
        crate = module.removeprefix("::").partition("::")[0]
        local = ("crate", "self", "super", "Self", "")
        return None if crate in local or crate in self._crates else crate

    def _up(self, importer: str, names: list[str]) -> Located:
        here = self._above(importer)
        while here and names[:1] == ["super"]:
            here, names = self._above(here[0]), names[1:]
        return self._down(here, names)

    def _down(self, start: Files, names: list[str]) -> Located:
        if not start:
            return NOTHING
        for count, name in enumerate(names):
            child = self._child(start[0], name)
            if not child:
                return start, tuple(names[count:])
            start = child
        return start, ()

    def _child(self, path: str, name: str) -> Files:
        inner = self._inner(path)
        return self._paths.first((under(inner, f"{name}.rs"), under(inner, f"{name}/mod.rs")))

    def _above(self, path: str) -> Files:
        """Return the file of the module above."""
        if self._is_root(path):
            return ()
        directory = parent(path)
        if path.endswith("/mod.rs"):
            directory = parent(directory)
        beside = (f"{directory}.rs", *(under(directory, name) for name in ("mod.rs", *_ROOTS)))
        return self._paths.first(place for place in beside if place != path)

    def _root(self, path: str) -> Files:
        """Return the root of the crate that a file belongs to."""
        if self._is_root(path):
            return (path,)
        for directory in ancestors(parent(path)):
            if found := self._paths.first(under(directory, root) for root in _ROOTS):
                return found
            if directory.rpartition("/")[2] in _ROOT_DIRECTORIES:
                return ()
        return ()

    def _inner(self, path: str) -> str:
        """Return the directory in which the modules inside a file are."""
        if path.endswith("mod.rs") or self._is_root(path):
            return parent(path)
        return under(parent(path), stem(path))

    def _is_root(self, path: str) -> bool:
        directory, _, name = path.rpartition("/")
        if name in _ROOTS:
            return True
        if directory.rpartition("/")[2] not in _ROOT_DIRECTORIES or name == "mod.rs":
            return False
        above = parent(directory)
        return under(above, "Cargo.toml") in self._paths or above.endswith("src") or not above


def _names(path: str, text: str) -> tuple[str, str | None]:
    """Return the name of a package and the path of its library, if its manifest says it."""
    try:
        read = tomllib.loads(text)
    except (ValueError, RecursionError):
        read = {}
    package, library = read.get("package"), read.get("lib")
    package = package if isinstance(package, dict) else {}
    library = library if isinstance(library, dict) else {}
    name = library.get("name") or package.get("name") or parent(path).rpartition("/")[2]
    place = library.get("path")
    return str(name), place if isinstance(place, str) else None
