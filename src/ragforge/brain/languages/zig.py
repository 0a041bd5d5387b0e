"""Zig."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragforge.brain.languages.language import (
    NOTHING,
    Import,
    Language,
    Located,
    ModuleFinder,
    NameRules,
    get_parent,
    load_query,
    resolve_path,
)
from ragforge.domain.text import split_words

_IMPORT = re.compile(r"(?:.*?\b(?:const|var)\s+(\w+)[^=]*=\s*)?@import\(\s*\"([^\"]*)\"", re.DOTALL)


def _read_imports(text: str, line: int) -> Iterator[Import]:
    if match := _IMPORT.match(text):
        yield Import(match.group(2), (), match.group(1) or "", line)


class ZigModules(ModuleFinder):
    """A name that ends in `.zig` is a path; others are packages of the build."""

    def locate(self, importer: str, module: str) -> Located:
        place = resolve_path(get_parent(importer), module) if module.endswith(".zig") else None
        found = self._paths.pick_first((place,)) if place else ()
        return (found, ()) if found else NOTHING

    def find_library(self, module: str) -> str | None:
        return None if module.endswith((".zig", ".zon")) or not module else module


ZIG = Language(
    "zig",
    "tree_sitter_zig:language",
    load_query("zig/definitions"),
    load_query("zig/uses"),
    NameRules("zig", self_words=split_words("self")),
    ZigModules,
    _read_imports,
)
