"""Java, Kotlin and Scala, the languages of the JVM."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

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
    load_query,
    pick_nearest,
)
from ragforge.domain.text import split_words

_IMPORT = re.compile(r"import\s+(static\s+)?(.*?);?\s*$", re.DOTALL)
_PATH = re.compile(r"(?P<module>[\w.`]*?)\.?(?P<last>\{[^}]*\}|[\w`]+|\*)")
_RENAMED = re.compile(r"\s*(?:=>|\bas\b)\s*")
_OUTSIDE_BRACES = re.compile(r",(?![^{]*\})")
_EVERYTHING = frozenset(("*", "_", "given"))


def _read_imports(text: str, line: int) -> Iterator[Import]:
    statement = _IMPORT.match(text)
    if statement is None:
        return
    for part in _OUTSIDE_BRACES.split(statement.group(2)):
        path, *alias = _RENAMED.split(part.strip()) if "{" not in part else [part.strip()]
        match = _PATH.fullmatch(path.replace(" ", "") if "{" not in path else path)
        if match is None:
            continue
        module, last = match.group("module"), match.group("last")
        members = last.strip("{}").split(",") if "{" in last else [" as ".join([last, *alias])]
        names = []
        for member in members:
            name, *other = _RENAMED.split(member.strip())
            if name in _EVERYTHING:
                yield Import(module, (), "", line, wildcard=True)
            elif name:
                names.append((name, other[0] if other else name))
        if names:
            yield Import(module, tuple(names), "", line)


_EXTENSIONS = (".java", ".kt", ".scala")
_SOURCE_ROOTS = frozenset(
    ("java", "kotlin", "scala", "src", "main", "test", "app", "common", "jvm")
)
_LANGUAGES = frozenset(("java", "kotlin", "scala"))
_ONE_SEGMENT = frozenset(("java", "javax", "kotlin", "kotlinx", "scala", "android", "androidx"))


class JvmModules(ModuleFinder):
    """Packages are found by the end of a directory's path; one may have several directories."""

    def __init__(self, paths: ProjectPaths, manifests: Mapping[str, str]) -> None:
        super().__init__(paths, manifests)
        self._packages: dict[str, tuple[str, ...]] = {}

    def locate(self, importer: str, module: str) -> Located:
        names = [name.strip("`") for name in module.split(".")]
        if files := self._find_package(importer, names):
            return files, ()
        for count in range(len(names), 0, -1):
            if count < len(names) and not names[count - 1][:1].isupper():
                break
            if found := self._find_file(importer, names[:count]):
                return found, tuple(names[count - 1 :])  # from the class on
        return NOTHING

    def find_submodule(self, importer: str, module: str, name: str) -> Files:
        return self._find_file(importer, [*module.split("."), name])

    def find_siblings(self, path: str) -> Files:
        """Return the files of a package; tests are in the package of what they test."""
        directory = get_parent(path)
        parts = directory.split("/")
        for place in range(len(parts) - 1, 1, -1):
            if parts[place] in _LANGUAGES and parts[place - 2] == "src":
                return self._find_package(path, parts[place + 1 :])
        return self._list_sources(directory)

    def find_library(self, module: str) -> str | None:
        names = module.split(".")
        if names[0] in _LANGUAGES:
            return names[0]
        local = any(self._find_directories(names[:count]) for count in range(len(names), 0, -1))
        if not module or local:
            return None
        return names[0] if names[0] in _ONE_SEGMENT else ".".join(names[:2])

    def _find_file(self, importer: str, names: list[str]) -> Files:
        path = "/".join(names)
        found = [
            file
            for extension in _EXTENSIONS
            for file in self._paths.find_ending(path + extension)
            if _is_at_source_root(file, path + extension)
        ]
        return pick_nearest(found, importer)

    def _find_package(self, importer: str, names: list[str]) -> Files:
        """Return the files of a package: that of the importer's module, else the only one."""
        found = self._find_directories(names)
        if len(found) > 1:
            module = _get_build_module(importer)
            own = tuple(place for place in found if _get_build_module(place) == module)
            found = own or (
                found if len({_get_build_module(place) for place in found}) == 1 else ()
            )
        return tuple(file for directory in found for file in self._list_sources(directory))

    def _find_directories(self, names: list[str]) -> tuple[str, ...]:
        path = "/".join(names)
        known = self._packages.get(path)
        if known is None:
            known = self._packages[path] = tuple(
                directory
                for directory in self._paths.find_directories_ending(path)
                if _is_at_source_root(directory, path) and self._list_sources(directory)
            )
        return known

    def _list_sources(self, directory: str) -> Files:
        return tuple(
            file for file in self._paths.list_files_in(directory) if file.endswith(_EXTENSIONS)
        )


def _is_at_source_root(path: str, end: str) -> bool:
    """Tell whether packages start at a path without its end."""
    root = path[: -len(end)].rstrip("/")
    return not root or root.rpartition("/")[2] in _SOURCE_ROOTS or "scala-" in root


def _get_build_module(path: str) -> str:
    """Return the module of the build that a path belongs to."""
    return f"/{path}/".partition("/src/")[0]


_BUILTIN_NAMES = split_words(
    """
    Any Array Boolean Byte Char CharSequence Class Collection Comparable Double Enum Error
    Exception Float Function Int Integer Iterable Iterator Lazy List Long Map Nothing Number
    Object Override Pair Result Runnable RuntimeException Sequence Set Short String Thread
    Throwable Triple Unit Void Either Left Right Option Some None Seq Vector Future Try Success
    Failure Nil Ordering Ordered Numeric Product Serializable Some App AnyRef AnyVal Test
    TraversableOnce IterableOnce
    """
)
_FOREIGN_WILDCARDS = split_words("java javax scala android androidx")

_JAVA_NAMES = NameRules(
    "jvm",
    self_words=split_words("this"),
    super_words=split_words("super"),
    implicit_members=True,
    file_per_type=True,
    package_names=True,
    wildcard_by_use=True,
    own_names_first=True,
    builtin_names=_BUILTIN_NAMES,
)
# In Kotlin and Scala a file may hold types of any name, and of any package.
_FREE_NAMES = replace(
    _JAVA_NAMES,
    project_types=True,
    bare_types=True,
    foreign_packages=_FOREIGN_WILDCARDS | {"kotlin"},
    foreign_wildcards=_FOREIGN_WILDCARDS,
)

JAVA = Language(
    "java",
    "tree_sitter_java:language",
    load_query("java/definitions"),
    load_query("java/uses"),
    _JAVA_NAMES,
    JvmModules,
    _read_imports,
)
KOTLIN = Language(
    "kotlin",
    "tree_sitter_kotlin:language",
    load_query("kotlin/definitions"),
    load_query("kotlin/uses"),
    _FREE_NAMES,
    JvmModules,
    _read_imports,
)
SCALA = replace(
    KOTLIN,
    name="scala",
    grammar="tree_sitter_scala:language",
    definitions=load_query("scala/definitions"),
    uses=load_query("scala/uses"),
)
