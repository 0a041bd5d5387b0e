"""Lua: its definitions, uses and imports."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragforge.brain.parse.language import Language
from ragforge.brain.parse.outline import Import

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


def _imports(text: str, line: int) -> Iterator[Import]:
    if match := _REQUIRE.match(text):
        yield Import(match.group(3), (), match.group(1) or "", line)


LUA = Language("lua", "tree_sitter_lua:language", _DEFINITIONS, _USES, _imports)
