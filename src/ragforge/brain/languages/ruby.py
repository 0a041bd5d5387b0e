"""Ruby."""

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
    pick_nearest,
    resolve_path,
)
from ragforge.domain.text import split_words

_REQUIRE = re.compile(r"(\w+)[\s(]+([\"'])(.*?)\2")


def _read_imports(text: str, line: int) -> Iterator[Import]:
    if match := _REQUIRE.match(text):
        loader, _, module = match.groups()
        if loader == "require_relative" and not module.startswith("."):
            module = f"./{module}"
        yield Import(module, (), "", line, wildcard=True)


_LOAD_PATHS = frozenset(("lib", "app", "test", "spec", "src", "models", "controllers"))


class RubyModules(ModuleFinder):
    """`require_relative` is a path; `require` one below a directory such as `lib`."""

    def locate(self, importer: str, module: str) -> Located:
        file = module if module.endswith(".rb") else f"{module}.rb"
        if module.startswith("."):
            place = resolve_path(get_parent(importer), file)
            found = self._paths.pick_first((place,)) if place else ()
        else:
            found = pick_nearest(
                [path for path in self._paths.find_ending(file) if _is_loaded(path, file)], importer
            )
        return (found, ()) if found else NOTHING

    def find_library(self, module: str) -> str | None:
        top = module.partition("/")[0]
        if not module or module[0] in "./" or "#{" in module:
            return None
        local = self._paths.find_ending(f"{module}.rb") or self._paths.find_ending(f"lib/{top}.rb")
        return None if local else top


def _is_loaded(path: str, end: str) -> bool:
    root = path[: -len(end)].rstrip("/")
    return not root or root.rpartition("/")[2] in _LOAD_PATHS


_BUILTIN_NAMES = split_words(
    """
    Array BasicObject Class Comparable Complex Date DateTime Dir Encoding Enumerable Enumerator
    Exception File Float Hash IO Integer Kernel Logger Method Module Mutex NilClass Numeric Object
    Pathname Proc Process Range Rational Regexp Set String Struct Symbol Thread Time URI
    ArgumentError StandardError RuntimeError NameError NoMethodError
    """
)

RUBY = Language(
    "ruby",
    "tree_sitter_ruby:language",
    load_query("ruby/definitions"),
    load_query("ruby/uses"),
    NameRules(
        "ruby",
        self_words=split_words("self"),
        implicit_members=True,
        outer_members=False,
        maker="new",
        static_prefix="def self.",
        bases_in_body=True,
        project_types=True,
        builtin_names=_BUILTIN_NAMES,
    ),
    RubyModules,
    _read_imports,
    invocation_name="method",
    bare_calls=True,
)
