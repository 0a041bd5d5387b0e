"""Module finder: how one language gets from a module's name to files of the project."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import TypeAlias


def get_parent(path: str) -> str:
    """Return the directory of a path, "" at the top."""
    return path.rpartition("/")[0]


def get_stem(path: str) -> str:
    """Return a file's name without its last extension."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def join_path(directory: str, name: str) -> str:
    """Return the path of a name in a directory."""
    return f"{directory}/{name}" if directory else name


def is_under(path: str, directory: str | None) -> bool:
    """Tell whether a path is a directory or below it; all are below None."""
    place = (directory or "").strip("/")
    return not place or path == place or path.startswith(f"{place}/")


def resolve_path(directory: str, relative: str) -> str | None:
    """Return where a relative path leads from a directory, None if out of the project."""
    parts = directory.split("/") if directory else []
    for part in relative.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part and part != ".":
            parts.append(part)
    return "/".join(parts)


def list_ancestors(directory: str) -> Iterable[str]:
    """Yield a directory and all those above it, the project's own last."""
    while directory:
        yield directory
        directory = get_parent(directory)
    yield ""


class ProjectPaths:
    """All files of a project; their order does not matter."""

    def __init__(self, paths: Collection[str]) -> None:
        self.all = frozenset(paths)

    def __contains__(self, path: str) -> bool:
        return path in self.all

    def may_hold(self, name: str) -> bool:
        """Tell whether a file or directory may be called so; False is certain, and cheap."""
        return f"/{name}/" in self._joined or f"/{name}." in self._joined

    @cached_property
    def _joined(self) -> str:
        return "\n".join(f"/{path}" for path in self.all)

    def pick_first(self, candidates: Iterable[str]) -> tuple[str, ...]:
        """Return the first path that is a file of the project."""
        for path in candidates:
            if path in self.all:
                return (path,)
        return ()

    def list_files_in(self, directory: str) -> tuple[str, ...]:
        """Return the files directly in a directory, sorted."""
        return self._by_directory.get(directory, ())

    def find_ending(self, end: str) -> list[str]:
        """Return the files whose path ends in these segments, sorted."""
        tail = f"/{end}"
        named = self._by_name.get(end.rpartition("/")[2], ())
        return [path for path in named if path == end or path.endswith(tail)]

    def find_directories_ending(self, end: str) -> list[str]:
        """Return the directories with files whose path ends in these segments, sorted."""
        tail = f"/{end}"
        named = self._directories_by_name.get(end.rpartition("/")[2], ())
        return [path for path in named if path == end or path.endswith(tail)]

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in sorted(self.all):
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    @cached_property
    def _by_directory(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for path in sorted(self.all):
            found.setdefault(get_parent(path), []).append(path)
        return {directory: tuple(files) for directory, files in found.items()}

    @cached_property
    def _directories_by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for directory in sorted(self._by_directory):
            found.setdefault(directory.rpartition("/")[2], []).append(directory)
        return found


def keep_single(found: Collection[str]) -> tuple[str, ...]:
    """Return what was found if it is exactly one path, else ()."""
    return tuple(found) if len(found) == 1 else ()


def pick_nearest(found: Collection[str], importer: str) -> tuple[str, ...]:
    """Return the only file, or the one whose directory is nearest to the importer's."""
    if len(found) < 2:
        return tuple(found)
    ranked = sorted(((_count_shared(path, importer), path) for path in found), reverse=True)
    return (ranked[0][1],) if ranked[0][0] > ranked[1][0] else ()


def _count_shared(one: str, other: str) -> int:
    count = 0
    for mine, yours in zip(one.split("/")[:-1], other.split("/")[:-1], strict=False):
        if mine != yours:
            break
        count += 1
    return count


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
