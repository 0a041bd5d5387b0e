"""Shell scripts."""

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
    keep_single,
    load_query,
    resolve_path,
)

_SOURCE = re.compile(r"(?:source|\.)\s+[\"']?([^\"'\s;]+)")


def _read_imports(text: str, line: int) -> Iterator[Import]:
    if match := _SOURCE.match(text):
        yield Import(match.group(1), (), "", line, wildcard=True)


_VARIABLE = re.compile(r"^(?:\$\{?[^/]*|\$\([^)]*\))/")


class ShellModules(ModuleFinder):
    """A sourced file is relative to the script or the root; a leading variable is ignored."""

    def locate(self, importer: str, module: str) -> Located:
        plain = _VARIABLE.sub("", module)
        if "$" in plain or plain.startswith(("/", "~")):
            return NOTHING
        places = [resolve_path(get_parent(importer), plain), resolve_path("", plain)]
        found = self._paths.pick_first(place for place in places if place)
        if not found and plain != module:
            found = keep_single(self._paths.find_ending(plain.lstrip("./")))
        return (found, ()) if found else NOTHING


BASH = Language(
    "bash",
    "tree_sitter_bash:language",
    load_query("bash/definitions"),
    load_query("bash/uses"),
    NameRules("bash"),
    ShellModules,
    _read_imports,
)
