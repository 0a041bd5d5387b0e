"""Elixir.

Its grammar has only calls: the called name decides whether one is a definition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragforge.brain.languages.language import Import, Language, NameRules
from ragforge.brain.languages.module_finder import ModuleFinder
from ragforge.domain.text import split_words

_FUNCTIONS = '"def" "defp" "defdelegate" "defguard" "defguardp"'
_MACROS = '"defmacro" "defmacrop"'
_MODULES = '"defmodule" "defprotocol" "defimpl"'
_LOADERS = '"alias" "import" "require" "use"'
_DOCUMENTED = '"doc" "spec" "impl" "deprecated" "typedoc" "since"'
_NO_CONSTANT = "^((module|type)?doc|spec|impl|deprecated|since|(macro)?callback)$"

_HEAD = """(arguments . [
  (identifier) @name
  (call target: (identifier) @name)
  (binary_operator left: (call target: (identifier) @name))
  (binary_operator left: (identifier) @name operator: "when")
])"""

_DEFINITIONS = f"""
(call target: (identifier) @kind (arguments . (alias) @name) (do_block)
  (#eq? @kind "defmodule")) @definition.module
(call target: (identifier) @kind (arguments . (alias) @name) (do_block)
  (#eq? @kind "defprotocol")) @definition.interface
(call target: (identifier) @kind
  (arguments . (alias) (keywords . (pair value: (alias) @name))) (do_block)
  (#eq? @kind "defimpl")) @definition.impl
(call target: (identifier) @kind {_HEAD} (#any-of? @kind {_FUNCTIONS})) @definition.function
(call target: (identifier) @kind {_HEAD} (#any-of? @kind {_MACROS})) @definition.macro
(unary_operator operator: "@" operand: (call target: (identifier) @kind
    (arguments . (binary_operator left: [(identifier) @name (call target: (_) @name)])))
  (#any-of? @kind "type" "typep" "opaque")) @definition.type
(unary_operator operator: "@" operand: (call target: (identifier) @name (arguments))
  (#not-match? @name "{_NO_CONSTANT}")) @definition.constant
(call target: (identifier) @kind (arguments . [(alias) (dot)])
  (#any-of? @kind {_LOADERS})) @import
"""

_USES = f"""
[(identifier) (alias) (dot)] @use
(call target: [(identifier) (dot)] @call)

(call target: (identifier) @kind
  (arguments . (call (arguments [(identifier) @local (tuple (identifier) @local)])))
  (#any-of? @kind {_FUNCTIONS} {_MACROS}))
(call target: (identifier) @kind
  (arguments . (binary_operator
    left: (call (arguments [(identifier) @local (tuple (identifier) @local)]))))
  (#any-of? @kind {_FUNCTIONS} {_MACROS}))
(binary_operator left: (identifier) @local operator: ["=" "\\\\\\\\"])
(stab_clause left: (arguments (identifier) @local))
(call target: (identifier) @skip
  (#any-of? @skip {_FUNCTIONS} {_MACROS} {_MODULES} {_LOADERS} "defstruct"))
(unary_operator operator: "@" operand: (call target: (identifier) @skip))
(unary_operator operator: "@" operand: (call target: (identifier) @kind
    (arguments . (binary_operator left: (call target: (identifier) @skip))))
  (#eq? @kind "spec"))

(call target: (identifier) @kind (arguments . (alias) @bases) (#eq? @kind "defimpl"))
(unary_operator operator: "@" operand: (call target: (identifier) @kind (arguments (string) @doc))
  (#any-of? @kind "doc" "moduledoc"))
(unary_operator operator: "@" operand: (call target: (identifier) @kind)
  (#any-of? @kind {_DOCUMENTED})) @lead
(comment) @comment
"""

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
    _DEFINITIONS,
    _USES,
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
