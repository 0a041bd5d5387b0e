"""The JVM's modules: a package is a path, a class usually a file of its name."""

from __future__ import annotations

from collections.abc import Mapping

from ragforge.brain.modules.finder import NOTHING, Files, Finder, Located
from ragforge.brain.modules.paths import Paths, nearest, parent

_EXTENSIONS = (".java", ".kt", ".scala")
_SOURCE_ROOTS = frozenset(
    ("java", "kotlin", "scala", "src", "main", "test", "app", "common", "jvm")
)
_LANGUAGES = frozenset(("java", "kotlin", "scala"))
_ONE_SEGMENT = frozenset(("java", "javax", "kotlin", "kotlinx", "scala", "android", "androidx"))


class JvmModules(Finder):
    """Packages are found by the end of a directory's path; several may make up one."""

    def __init__(self, paths: Paths, manifests: Mapping[str, str]) -> None:
        super().__init__(paths, manifests)
        self._packages: dict[str, tuple[str, ...]] = {}

    def locate(self, importer: str, module: str) -> Located:
        names = [name.strip("`") for name in module.split(".")]
        if files := self._package(importer, names):
            return files, ()
        for count in range(len(names), 0, -1):
            if count < len(names) and not names[count - 1][:1].isupper():
                break
            if found := self._file(importer, names[:count]):
                return found, tuple(names[count - 1 :])  # from the class on
        return NOTHING

    def within(self, importer: str, module: str, name: str) -> Files:
        return self._file(importer, [*module.split("."), name])

    def siblings(self, path: str) -> Files:
        """Return the files of a package: tests share it with what they test."""
        directory = parent(path)
        parts = directory.split("/")
        for place in range(len(parts) - 1, 1, -1):
            if parts[place] in _LANGUAGES and parts[place - 2] == "src":
                return self._package(path, parts[place + 1 :])
        return self._sources(directory)

    def library(self, module: str) -> str | None:
        names = module.split(".")
        if names[0] in _LANGUAGES:
            return names[0]
        local = any(self._directories(names[:count]) for count in range(len(names), 0, -1))
        if not module or local:
            return None
        return names[0] if names[0] in _ONE_SEGMENT else ".".join(names[:2])

    def _file(self, importer: str, names: list[str]) -> Files:
        path = "/".join(names)
        found = [
            file
            for extension in _EXTENSIONS
            for file in self._paths.ending(path + extension)
            if _at_source_root(file, path + extension)
        ]
        return nearest(found, importer)

    def _package(self, importer: str, names: list[str]) -> Files:
        """Return the files of a package: that of the importer's module, else the only one."""
        found = self._directories(names)
        if len(found) > 1:
            module = _module(importer)
            own = tuple(place for place in found if _module(place) == module)
            found = own or (found if len({_module(place) for place in found}) == 1 else ())
        return tuple(file for directory in found for file in self._sources(directory))

    def _directories(self, names: list[str]) -> tuple[str, ...]:
        path = "/".join(names)
        known = self._packages.get(path)
        if known is None:
            known = self._packages[path] = tuple(
                directory
                for directory in self._paths.directories_ending(path)
                if _at_source_root(directory, path) and self._sources(directory)
            )
        return known

    def _sources(self, directory: str) -> Files:
        return tuple(file for file in self._paths.inside(directory) if file.endswith(_EXTENSIONS))


def _at_source_root(path: str, end: str) -> bool:
    """Whether a path without its end is a place where packages start."""
    root = path[: -len(end)].rstrip("/")
    return not root or root.rpartition("/")[2] in _SOURCE_ROOTS or "scala-" in root


def _module(path: str) -> str:
    """Return the part of a build that a path belongs to."""
    return f"/{path}/".partition("/src/")[0]
