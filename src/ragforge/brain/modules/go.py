"""Go's modules: a package is the directory that its path leads to."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ragforge.brain.modules.finder import NOTHING, Files, Finder, Located
from ragforge.brain.modules.paths import Paths, parent, under

_MODULE = re.compile(r"^\s*module\s+\"?([^\s\"]+)", re.MULTILINE)
_HOSTS_WITH_OWNERS = frozenset(("github.com", "gitlab.com", "bitbucket.org", "golang.org"))
_TEST = "_test.go"


class GoModules(Finder):
    """Import paths start with the path of a module, which its go.mod states."""

    def __init__(self, paths: Paths, manifests: Mapping[str, str]) -> None:
        super().__init__(paths, manifests)
        self._modules = sorted(
            (
                (found.group(1), parent(path))
                for path, text in manifests.items()
                if path.rpartition("/")[2] == "go.mod" and (found := _MODULE.search(text))
            ),
            key=lambda module: -len(module[0]),
        )

    def locate(self, importer: str, module: str) -> Located:
        for name, directory in self._modules:
            if module == name or module.startswith(f"{name}/"):
                inner = module[len(name) + 1 :]
                files = self._package(under(directory, inner) if inner else directory)
                return (files, ()) if files else NOTHING
        return NOTHING

    def siblings(self, path: str) -> Files:
        if path.endswith(_TEST):
            found = self._paths.inside(parent(path))
            return tuple(file for file in found if file.endswith(".go"))
        return self._package(parent(path))

    def library(self, module: str) -> str | None:
        if any(module == name or module.startswith(f"{name}/") for name, _ in self._modules):
            return None
        parts = module.split("/")
        if "." not in parts[0]:
            return module or None
        return "/".join(parts[: 3 if parts[0] in _HOSTS_WITH_OWNERS else 2])

    def _package(self, directory: str) -> Files:
        files = self._paths.inside(directory)
        return tuple(file for file in files if file.endswith(".go") and not file.endswith(_TEST))
