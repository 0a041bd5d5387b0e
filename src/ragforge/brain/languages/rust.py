"""Rust."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping

from ragforge.brain.languages.language import (
    NOTHING,
    Files,
    Import,
    Language,
    Located,
    ModuleFinder,
    NameRules,
    ProjectPaths,
    get_parent,
    get_stem,
    join_path,
    list_ancestors,
    load_query,
)
from ragforge.domain.text import split_words

_PIECE = re.compile(r"\s*([{},]|[^{},]+)")
_USE = re.compile(r"(?:pub(?:\s*\([^)]*\))?\s+)?(use|mod|extern\s+crate)\s+(.*?);?\s*$", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def _read_imports(text: str, line: int) -> Iterator[Import]:
    statement = _USE.search(_COMMENT.sub("", text))
    if statement is None:
        return
    keyword, tree = statement.groups()
    if keyword == "mod":
        yield Import(f"self::{tree.strip()}", (), tree.strip(), line)
        return
    names: dict[str, list[tuple[str, str]]] = {}
    for path, alias in _list_leaves(tree):
        module, _, name = path.rpartition("::")
        if name == "*":
            yield Import(module, (), "", line, wildcard=True)
        elif name == "self":
            yield Import(module, (), alias or module.rpartition("::")[2], line)
        elif not module:
            yield Import(name, (), alias or name, line)
        else:
            names.setdefault(module, []).append((name, alias or name))
    for module, pairs in names.items():
        yield Import(module, tuple(pairs), "", line, passed_on=statement.group().startswith("pub"))


def _list_leaves(tree: str) -> Iterator[tuple[str, str]]:
    """Yield each path of a use tree, and its alias if it has one."""
    prefixes = [""]
    path = ""
    for piece in _PIECE.findall(tree + ","):
        if piece == "{":
            prefixes.append(path)
            path = ""
        elif piece in ",}":
            if path:
                whole, _, alias = path.partition(" as ")
                yield whole.strip().removeprefix("::"), alias.strip()
            path = ""
            if piece == "}" and len(prefixes) > 1:
                prefixes.pop()
        else:
            path = prefixes[-1] + " ".join(piece.split())


_ROOTS = ("lib.rs", "main.rs")
_ROOT_DIRECTORIES = frozenset(("tests", "examples", "benches", "bin"))
_SHIPPED = frozenset(("std", "core", "alloc", "proc_macro", "test"))


class RustModules(ModuleFinder):
    """Paths start at the crate, at this module, at the one above, or with a crate's name."""

    def __init__(self, paths: ProjectPaths, manifests: Mapping[str, str]) -> None:
        super().__init__(paths, manifests)
        named: dict[str, set[Files]] = {}
        for path in paths.all:
            if path.rpartition("/")[2] == "Cargo.toml":
                package, library = _read_names(path, manifests.get(path, ""))
                place = join_path(get_parent(path), library or "src/lib.rs")
                if root := paths.pick_first((place,)):
                    named.setdefault(package.replace("-", "_"), set()).add(root)
        self._crates = {name: next(iter(roots)) for name, roots in named.items() if len(roots) == 1}

    def locate(self, importer: str, module: str) -> Located:
        first, *names = module.removeprefix("::").split("::")
        if first == "crate":
            return self._walk_down(self._find_root(importer), names)
        if first == "self":
            return self._walk_down((importer,), names)
        if first == "super":
            return self._walk_up(importer, names)
        if first in self._crates:
            return self._walk_down(self._crates[first], names)
        if first in _SHIPPED:
            return NOTHING
        child = self._find_child(importer, first)
        return self._walk_down(child, names) if child else NOTHING

    def find_submodule(self, importer: str, module: str, name: str) -> Files:
        files, left = self.locate(importer, f"{module}::{name}")
        return () if left else files

    def find_library(self, module: str) -> str | None:
        crate = module.removeprefix("::").partition("::")[0]
        local = ("crate", "self", "super", "Self", "")
        return None if crate in local or crate in self._crates else crate

    def _walk_up(self, importer: str, names: list[str]) -> Located:
        here = self._find_above(importer)
        while here and names[:1] == ["super"]:
            here, names = self._find_above(here[0]), names[1:]
        return self._walk_down(here, names)

    def _walk_down(self, start: Files, names: list[str]) -> Located:
        if not start:
            return NOTHING
        for count, name in enumerate(names):
            child = self._find_child(start[0], name)
            if not child:
                return start, tuple(names[count:])
            start = child
        return start, ()

    def _find_child(self, path: str, name: str) -> Files:
        inner = self._find_inner(path)
        return self._paths.pick_first(
            (join_path(inner, f"{name}.rs"), join_path(inner, f"{name}/mod.rs"))
        )

    def _find_above(self, path: str) -> Files:
        """Return the file of the module above."""
        if self._is_root(path):
            return ()
        directory = get_parent(path)
        if path.endswith("/mod.rs"):
            directory = get_parent(directory)
        above = [join_path(directory, name) for name in ("mod.rs", *_ROOTS)]
        return self._paths.pick_first(
            place for place in (f"{directory}.rs", *above) if place != path
        )

    def _find_root(self, path: str) -> Files:
        """Return the root of the crate that a file belongs to."""
        if self._is_root(path):
            return (path,)
        for directory in list_ancestors(get_parent(path)):
            if found := self._paths.pick_first(join_path(directory, root) for root in _ROOTS):
                return found
            if directory.rpartition("/")[2] in _ROOT_DIRECTORIES:
                return ()
        return ()

    def _find_inner(self, path: str) -> str:
        """Return the directory of the modules that a file declares."""
        if path.endswith("mod.rs") or self._is_root(path):
            return get_parent(path)
        return join_path(get_parent(path), get_stem(path))

    def _is_root(self, path: str) -> bool:
        directory, _, name = path.rpartition("/")
        if name in _ROOTS:
            return True
        if directory.rpartition("/")[2] not in _ROOT_DIRECTORIES or name == "mod.rs":
            return False
        above = get_parent(directory)
        return join_path(above, "Cargo.toml") in self._paths or above.endswith("src") or not above


def _read_names(path: str, text: str) -> tuple[str, str | None]:
    """Return the name of a package and the path of its library, if its manifest has them."""
    try:
        read = tomllib.loads(text)
    except (ValueError, RecursionError):
        read = {}
    package, library = read.get("package"), read.get("lib")
    package = package if isinstance(package, dict) else {}
    library = library if isinstance(library, dict) else {}
    name = library.get("name") or package.get("name") or get_parent(path).rpartition("/")[2]
    place = library.get("path")
    return str(name), place if isinstance(place, str) else None


RUST = Language(
    "rust",
    "tree_sitter_rust:language",
    load_query("rust/definitions"),
    load_query("rust/uses"),
    NameRules(
        "rust",
        self_words=split_words("self Self"),
        path_names=True,
        reexports=True,
        submodules=True,
        own_names_first=True,
        separator="::",
    ),
    RustModules,
    _read_imports,
    function_values=True,
)
