"""Elixir.

Its grammar has only calls: the called name decides whether one is a definition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragforge.brain.languages.language import Import, Language, ModuleFinder, NameRules, load_query
from ragforge.domain.text import split_words

_STATEMENT = re.compile(r"(\w+)[\s(]+([\w.]+?)(?:\.\{([^}]*)\})?\s*(?:,|\)|$)(.*)", re.DOTALL)
_AS = re.compile(r"\bas:\s*([\w.]+)")
_ONLY = re.compile(r"\bonly:\s*\[([^\]]*)\]")
_KEY = re.compile(r"(\w+[?!]?):")


def _read_imports(text: str, line: int) -> Iterator[Import]:
    match = _STATEMENT.match(text)
    if match is None:
        return
    kind, module, several, options = match.groups()
    if several is not None:
        for part in several.split(","):
            if name := part.strip():
                yield Import(f"{module}.{name}", (), name.rpartition(".")[2], line)
        return
    renamed, only = _AS.search(options), _ONLY.search(options)
    names = tuple((name, name) for name in _KEY.findall(only.group(1))) if only else ()
    if kind in ("import", "use"):
        yield Import(module, names, "", line, wildcard=not names)
    elif renamed:
        yield Import(module, (), renamed.group(1), line)
    else:
        yield Import(module, (), module if kind == "require" else module.rpartition(".")[2], line)


class ElixirModules(ModuleFinder):
    """A module is not a file; the modules of a library share their first name."""

    def find_library(self, module: str) -> str | None:
        top = module.partition(".")[0]
        return None if not top or top == "__MODULE__" else top


ELIXIR = Language(
    "elixir",
    "tree_sitter_elixir:language",
    load_query("elixir/definitions"),
    load_query("elixir/uses"),
    NameRules(
        "elixir",
        self_words=split_words("__MODULE__"),
        impl_adds_members=False,
        modules_are_types=True,
        project_types=True,
        nested_names=False,
    ),
    ElixirModules,
    _read_imports,
    joins_clauses=True,
)
