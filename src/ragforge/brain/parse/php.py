"""PHP: its definitions, uses and imports."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragforge.brain.parse.language import Language
from ragforge.brain.parse.outline import Import

_DEFINITIONS = """
(namespace_definition name: (_)) @definition.namespace
(class_declaration) @definition.class
(interface_declaration) @definition.interface
(trait_declaration) @definition.trait
(enum_declaration) @definition.enum
(function_definition) @definition.function
(method_declaration) @definition.method
(const_declaration (const_element . (name) @name)) @definition.constant
(namespace_use_declaration) @import
[(require_expression) (require_once_expression) (include_expression) (include_once_expression)]
  @import
"""

_USES = """
[(name) (qualified_name) (member_access_expression) (nullsafe_member_access_expression)
 (class_constant_access_expression) (scoped_property_access_expression)] @use
(function_call_expression function: [(name) (qualified_name)] @call)
(object_creation_expression . [(name) (qualified_name)] @call)
[(member_call_expression) (nullsafe_member_call_expression) (scoped_call_expression)] @invocation

(variable_name) @skip
(argument name: (_) @skip)
(enum_case name: (_) @skip)
(declare_statement) @skip

[(base_clause) (class_interface_clause)] @bases
(use_declaration [(name) (qualified_name)] @bases)
(attribute) @decorator
(comment) @comment
"""

_USE = re.compile(r"use\s+(?:function\s+|const\s+)?(.*?);?\s*$", re.DOTALL)
_GROUP = re.compile(r"(.*?)\\?\s*\{(.*?),?\s*\}", re.DOTALL)
_LITERAL = re.compile(r"([\"'])([^\"']*)\1")


def _imports(text: str, line: int) -> Iterator[Import]:
    statement = _USE.match(text)
    if statement is None:
        if literal := _LITERAL.search(text):
            here = "." if "__DIR__" in text else ""
            yield Import(here + literal.group(2), (), "", line, wildcard=True)
    elif group := _GROUP.match(statement.group(1)):
        yield from _used(f"{group.group(1)}\\", group.group(2), line)
    else:
        yield from _used("", statement.group(1), line)


def _used(prefix: str, text: str, line: int) -> Iterator[Import]:
    names: dict[str, list[tuple[str, str]]] = {}
    for part in text.split(","):
        path, *alias = re.split(r"\s+as\s+", part.strip(), flags=re.IGNORECASE)
        path = path.removeprefix("function ").removeprefix("const ")
        module, _, name = (prefix + path.strip()).strip("\\").rpartition("\\")
        if name:
            names.setdefault(module, []).append((name, alias[0].strip() if alias else name))
    for module, pairs in names.items():
        yield Import(module, tuple(pairs), "", line)


PHP = Language("php", "tree_sitter_php:language_php", _DEFINITIONS, _USES, _imports, sigils="$")
