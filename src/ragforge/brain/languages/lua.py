"""Lua."""

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
    keep_single,
    load_query,
)
from ragforge.domain.text import split_words

_REQUIRE = re.compile(r"(?:([\w.]+)\s*=\s*)?require\s*\(?\s*([\"'])(.*?)\2")


def _read_imports(text: str, line: int) -> Iterator[Import]:
    if match := _REQUIRE.match(text):
        yield Import(match.group(3), (), match.group(1) or "", line)


class LuaModules(ModuleFinder):
    """`a.b` is `a/b.lua` or `a/b/init.lua`, in any directory if there is only one."""

    def locate(self, importer: str, module: str) -> Located:
        base = module.replace(".", "/").strip("/")
        found = self._paths.find_ending(f"{base}.lua") or self._paths.find_ending(
            f"{base}/init.lua"
        )
        return (keep_single(found), ()) if base and len(found) == 1 else NOTHING

    def find_library(self, module: str) -> str | None:
        top = re.split(r"[./]", module)[0]
        local = not top or self._paths.find_directories_ending(f"lua/{top}")
        return None if local else top


LUA = Language(
    "lua",
    "tree_sitter_lua:language",
    load_query("lua/definitions"),
    load_query("lua/uses"),
    NameRules("lua", self_words=split_words("self"), dotted_names=True, nested_exports=True),
    LuaModules,
    _read_imports,
)
