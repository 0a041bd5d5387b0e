"""Zig."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragforge.brain.languages.language import Import, Language, NameRules
from ragforge.brain.languages.module_finder import NOTHING, Located, ModuleFinder
from ragforge.brain.languages.paths import get_parent, resolve_path
from ragforge.domain.text import split_words

_DEFINITIONS = """
(function_declaration) @definition.function
(test_declaration (string) @name (block) @body) @definition.function
(variable_declaration . (identifier) @name (struct_declaration) @body) @definition.struct
(variable_declaration . (identifier) @name (union_declaration) @body) @definition.struct
(variable_declaration . (identifier) @name (enum_declaration) @body) @definition.enum
(variable_declaration . (identifier) @name (error_set_declaration) @body) @definition.type
(source_file (variable_declaration . (identifier) @name) @definition.constant)
(struct_declaration (variable_declaration . (identifier) @name) @definition.constant)
(variable_declaration . (identifier) (builtin_function (builtin_identifier) @builtin)
  (#eq? @builtin "@import")) @import
(builtin_function (builtin_identifier) @builtin (#eq? @builtin "@import")) @import
"""

_USES = """
[(identifier) (field_expression)] @use
(call_expression function: [(identifier) (field_expression)] @call)
(struct_initializer . [(identifier) (field_expression)] @call)

(parameter name: (identifier) @local)
(variable_declaration . (identifier) @local)
(payload (identifier) @local)
(field_expression !object) @skip
(container_field name: (identifier) @skip)
(error_set_declaration (identifier) @skip)
(comment) @comment
"""

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
    _DEFINITIONS,
    _USES,
    NameRules("zig", self_words=split_words("self")),
    ZigModules,
    _read_imports,
)
