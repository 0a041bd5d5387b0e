"""Python."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

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

_COMMENT = re.compile(r"#[^\n]*")
_FILLER = re.compile(r"[\s\\()]+")
_FROM = re.compile(r"from (\.*) ?([\w. ]*?) ?import (.+)")


def _read_imports(text: str, line: int) -> Iterator[Import]:
    statement = _FILLER.sub(" ", _COMMENT.sub("", text)).strip().rstrip(",")
    if match := _FROM.fullmatch(statement):
        module = match.group(1) + match.group(2).replace(" ", "")
        if module == "__future__":
            return
        if match.group(3) == "*":
            yield Import(module, (), "", line, wildcard=True)
        else:
            yield Import(module, tuple(_split_names(match.group(3))), "", line)
    elif statement.startswith("import "):
        for module, alias in _split_names(statement.removeprefix("import ")):
            yield Import(module, (), alias, line)


def _split_names(text: str) -> Iterator[tuple[str, str]]:
    for part in text.split(","):
        name, _, alias = part.strip().partition(" as ")
        if name := name.replace(" ", ""):
            yield name, alias.strip() or name


_SOURCES = (".py", ".pyi")
_INITS = ("__init__.py", "__init__.pyi")
_OBVIOUS_ROOTS = ("", "src")


class PythonModules(ModuleFinder):
    """Roots are the directories above the outermost packages, the project itself and `src`."""

    def __init__(self, paths: ProjectPaths, manifests: Mapping[str, str]) -> None:
        super().__init__(paths, manifests)
        inits = [path for path in paths.all if path.endswith(_INITS)]
        self._packages = {get_parent(path) for path in inits if get_stem(path) == "__init__"}
        self._root_of: dict[str, str] = {}

    @cached_property
    def _roots(self) -> dict[str, set[str]]:
        """The roots by the names that can be imported from them; to find all takes a while."""
        found: dict[str, set[str]] = {}
        for path in self._paths.all:
            if path.endswith(_SOURCES):
                root = self._find_root(get_parent(path))
                top = path[len(root) + 1 if root else 0 :].partition("/")[0]
                found.setdefault(top.rpartition(".")[0] or top, set()).add(root)
        return found

    def _list_roots(self, top: str) -> Collection[str]:
        """Return the roots from which a name can be imported."""
        return self._roots.get(top, ()) if self._paths.may_hold(top) else ()

    def locate(self, importer: str, module: str) -> Located:
        found = self._find(get_parent(importer), module)
        return (found, ()) if found else NOTHING

    def find_submodule(self, importer: str, module: str, name: str) -> Files:
        return self.locate(importer, f"{module}{'' if module.endswith('.') else '.'}{name}")[0]

    def find_packages(self, path: str) -> Files:
        """Return the packages around a file: `import package` shows `package.module.name`."""
        if not path.endswith(_SOURCES):
            return ()
        around = [place for place in list_ancestors(get_parent(path)) if place]
        return tuple(f"{place}/__init__{end}" for place in around for end in _SOURCES)

    def find_library(self, module: str) -> str | None:
        top = module.partition(".")[0]
        if top in sys.stdlib_module_names:
            return top
        return None if not top or self._list_roots(top) else top

    def _find(self, directory: str, module: str) -> Files:
        name = module.lstrip(".")
        if level := len(module) - len(name):
            return self._find_relative(directory, level, name)
        own = self._find_root(directory)
        for root in dict.fromkeys((own, *_OBVIOUS_ROOTS)):
            if found := self._find_at(root, name):
                return found
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names:  # not another directory's `signal.py`
            return ()
        others = {self._find_at(root, name) for root in self._list_roots(top)} - {()}
        return others.pop() if len(others) == 1 else ()

    def _find_relative(self, directory: str, level: int, name: str) -> Files:
        for _ in range(level - 1):
            if not directory:
                return ()
            directory = get_parent(directory)
        if name:
            return self._find_at(directory, name)
        return self._paths.pick_first(join_path(directory, f"__init__{end}") for end in _SOURCES)

    def _find_at(self, root: str, name: str) -> Files:
        base = join_path(root, name.replace(".", "/"))
        return self._paths.pick_first(
            f"{base}{middle}{end}" for end in _SOURCES for middle in ("", "/__init__")
        )

    def _find_root(self, directory: str) -> str:
        """Return the directory above the outermost package around a directory."""
        known = self._root_of.get(directory)
        if known is None:
            inside = directory and directory in self._packages
            known = self._find_root(get_parent(directory)) if inside else directory
            self._root_of[directory] = known
        return known


PYTHON = Language(
    "python",
    "tree_sitter_python:language",
    load_query("python/definitions"),
    load_query("python/uses"),
    NameRules(
        "python",
        self_words=split_words("self cls"),
        super_words=split_words("super"),
        submodules=True,
        reexports=True,
        private_prefix="_",
        first_definition=True,
    ),
    PythonModules,
    _read_imports,
    function_values=True,
)
