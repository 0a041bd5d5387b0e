"""Go."""

from __future__ import annotations

import re
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
    join_path,
    load_query,
)

_SPEC = re.compile(r"(?:(?P<alias>[\w.]+)\s*)?[\"`](?P<path>[^\"`]*)[\"`]")
_VERSION = re.compile(r"v\d+")
_VERSION_SUFFIX = re.compile(r"\.v\d+$")


def _read_imports(text: str, line: int) -> Iterator[Import]:
    match = _SPEC.match(text)
    if match is None:
        return
    path, alias = match.group("path"), match.group("alias")
    if alias == ".":
        yield Import(path, (), "", line, wildcard=True)
    else:
        yield Import(path, (), _list_package(path) if alias is None else alias.strip("_"), line)


def _list_package(path: str) -> str:
    """Return the usual name of a package: the last segment of its path, without a version."""
    segments = path.split("/")
    if len(segments) > 1 and _VERSION.fullmatch(segments[-1]):
        segments.pop()
    return _VERSION_SUFFIX.sub("", segments[-1])


_MODULE = re.compile(r"^\s*module\s+\"?([^\s\"]+)", re.MULTILINE)
_HOSTS_WITH_OWNERS = frozenset(("github.com", "gitlab.com", "bitbucket.org", "golang.org"))
_TEST = "_test.go"


class GoModules(ModuleFinder):
    """Import paths start with the path of a module, which its go.mod states."""

    def __init__(self, paths: ProjectPaths, manifests: Mapping[str, str]) -> None:
        super().__init__(paths, manifests)
        self._modules = sorted(
            (
                (found.group(1), get_parent(path))
                for path, text in manifests.items()
                if path.rpartition("/")[2] == "go.mod" and (found := _MODULE.search(text))
            ),
            key=lambda module: -len(module[0]),
        )

    def locate(self, importer: str, module: str) -> Located:
        for name, directory in self._modules:
            if module == name or module.startswith(f"{name}/"):
                inner = module[len(name) + 1 :]
                files = self._list_package(join_path(directory, inner) if inner else directory)
                return (files, ()) if files else NOTHING
        return NOTHING

    def find_siblings(self, path: str) -> Files:
        if path.endswith(_TEST):
            found = self._paths.list_files_in(get_parent(path))
            return tuple(file for file in found if file.endswith(".go"))
        return self._list_package(get_parent(path))

    def find_library(self, module: str) -> str | None:
        if any(module == name or module.startswith(f"{name}/") for name, _ in self._modules):
            return None
        parts = module.split("/")
        if "." not in parts[0]:
            return module or None
        return "/".join(parts[: 3 if parts[0] in _HOSTS_WITH_OWNERS else 2])

    def _list_package(self, directory: str) -> Files:
        files = self._paths.list_files_in(directory)
        return tuple(file for file in files if file.endswith(".go") and not file.endswith(_TEST))


GO = Language(
    "go",
    "tree_sitter_go:language",
    load_query("go/definitions"),
    load_query("go/uses"),
    NameRules(
        "go",
        receiver=re.compile(r"func\s*\(\s*(\w+)\s+[*\w]"),
        bases_in_body=True,
        implicit_interfaces=True,
        methods_in_package=True,
        package_names=True,
        lowercase_types=True,
    ),
    GoModules,
    _read_imports,
    function_values=True,
)
