"""Lua."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragforge.brain.languages.language import Import, Language, NameRules
from ragforge.brain.languages.module_finder import NOTHING, Located, ModuleFinder
from ragforge.brain.languages.paths import keep_single
from ragforge.domain.text import split_words

_DEFINITIONS = """
(function_declaration name: (method_index_expression)) @definition.method
(function_declaration) @definition.function
(assignment_statement
  (variable_list . name: (_) @name)
  (expression_list . value: (function_definition body: (_) @body))) @definition.function
(field name: (identifier) @name value: (function_definition body: (_) @body)) @definition.function
(chunk (variable_declaration
  (assignment_statement (variable_list . name: (_) @name)) @definition.constant))
(chunk (assignment_statement (variable_list . name: (_) @name)) @definition.constant)
(variable_declaration (assignment_statement) @inner) @wrap
(assignment_statement
  (expression_list . value: (function_call name: (identifier) @require))
  (#eq? @require "require")) @import
(function_call name: (identifier) @require (#eq? @require "require")) @import
"""

_USES = """
[(identifier) (dot_index_expression) (method_index_expression)] @use
(function_call name: [(identifier) (dot_index_expression) (method_index_expression)] @call)

(parameters name: (identifier) @local)
(variable_declaration (variable_list name: (identifier) @local))
(variable_declaration (assignment_statement (variable_list name: (identifier) @local)))
(for_numeric_clause name: (identifier) @local)
(for_generic_clause (variable_list name: (identifier) @local))
(field name: (identifier) @skip)
(assignment_statement
  (variable_list . name: (_) @skip) (expression_list . value: (function_definition)))
(comment) @comment
"""

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
    _DEFINITIONS,
    _USES,
    NameRules("lua", self_words=split_words("self"), dotted_names=True, nested_exports=True),
    LuaModules,
    _read_imports,
)
