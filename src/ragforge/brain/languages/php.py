"""PHP."""

from __future__ import annotations

import json
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
    keep_single,
    load_query,
    resolve_path,
)
from ragforge.domain.text import split_words

_USE = re.compile(r"use\s+(?:function\s+|const\s+)?(.*?);?\s*$", re.DOTALL)
_GROUP = re.compile(r"(.*?)\\?\s*\{(.*?),?\s*\}", re.DOTALL)
_LITERAL = re.compile(r"([\"'])([^\"']*)\1")


def _read_imports(text: str, line: int) -> Iterator[Import]:
    statement = _USE.match(text)
    if statement is None:
        if literal := _LITERAL.search(text):
            here = "." if "__DIR__" in text else ""
            yield Import(here + literal.group(2), (), "", line, wildcard=True)
    elif group := _GROUP.match(statement.group(1)):
        yield from _read_used(f"{group.group(1)}\\", group.group(2), line)
    else:
        yield from _read_used("", statement.group(1), line)


def _read_used(prefix: str, text: str, line: int) -> Iterator[Import]:
    names: dict[str, list[tuple[str, str]]] = {}
    for part in text.split(","):
        path, *alias = re.split(r"\s+as\s+", part.strip(), flags=re.IGNORECASE)
        path = path.removeprefix("function ").removeprefix("const ")
        module, _, name = (prefix + path.strip()).strip("\\").rpartition("\\")
        if name:
            names.setdefault(module, []).append((name, alias[0].strip() if alias else name))
    for module, pairs in names.items():
        yield Import(module, tuple(pairs), "", line)


class PhpModules(ModuleFinder):
    """A namespace is a directory: as composer.json maps it, else of the same name."""

    def __init__(self, paths: ProjectPaths, manifests: Mapping[str, str]) -> None:
        super().__init__(paths, manifests)
        self._mapped: list[tuple[str, str]] = []
        for path, text in manifests.items():
            if path.rpartition("/")[2] == "composer.json":
                self._mapped += _read_mappings(get_parent(path), text)
        self._mapped.sort(key=lambda pair: (-len(pair[0]), pair))

    def locate(self, importer: str, module: str) -> Located:
        if not module.endswith((".php", ".inc", ".phtml")):
            return NOTHING
        neighbour = resolve_path(get_parent(importer), module.lstrip("/"))
        found = self._paths.pick_first(place for place in (neighbour, module) if place)
        return (found, ()) if found else NOTHING

    def find_submodule(self, importer: str, module: str, name: str) -> Files:
        path = f"{module}\\{name}".strip("\\")
        for prefix, directory in self._mapped:
            if path.startswith(prefix):
                place = resolve_path(directory, path[len(prefix) :].replace("\\", "/") + ".php")
                if place and place in self._paths:
                    return (place,)
        end = path.replace("\\", "/") + ".php"
        top, slash, rest = end.partition("/")
        found = self._paths.find_ending(end)
        return keep_single(found or self._paths.find_ending(f"{top.lower()}{slash}{rest}"))

    def find_library(self, module: str) -> str | None:
        top = module.partition("\\")[0]
        if not top or "/" in module or module.endswith((".php", ".inc", ".phtml")):
            return None
        local = any(f"{module}\\".startswith(prefix) for prefix, _ in self._mapped)
        return None if local else top


def _read_mappings(directory: str, text: str) -> list[tuple[str, str]]:
    """Return the namespaces and their directories in a composer.json."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return []
    found: list[tuple[str, str]] = []
    for section in ("autoload", "autoload-dev"):
        standard = (read.get(section) or {}).get("psr-4") if isinstance(read, dict) else None
        for prefix, places in (standard or {}).items():
            for place in [places] if isinstance(places, str) else places:
                target = resolve_path(directory, place)
                found += [(prefix, target)] if prefix and target is not None else []
    return found


_BUILTIN_NAMES = split_words(
    """
    ArrayAccess ArrayIterator ArrayObject Closure Countable DateInterval DateTime DateTimeImmutable
    DateTimeInterface DateTimeZone Error ErrorException Exception Generator Iterator
    IteratorAggregate JsonSerializable PDO Stringable Throwable Traversable TypeError stdClass
    """
)

PHP = Language(
    "php",
    "tree_sitter_php:language_php",
    load_query("php/definitions"),
    load_query("php/uses"),
    NameRules(
        "php",
        self_words=split_words("this self static"),
        super_words=split_words("parent"),
        bases_in_body=True,
        file_per_type=True,
        project_types=True,
        nested_names=False,
        nested_exports=True,
        separator="\\",
        builtin_names=_BUILTIN_NAMES,
    ),
    PhpModules,
    _read_imports,
    sigils="$",
)
