"""Ruby: its definitions, uses and imports."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragforge.brain.parse.language import Language
from ragforge.brain.parse.outline import Import

_DEFINITIONS = """
(module) @definition.module
(class) @definition.class
(assignment left: (constant) @name
  right: (call receiver: (constant) @maker block: (_) @body)
  (#any-of? @maker "Class" "Data" "Module" "Struct")) @definition.class
(module body: (body_statement [(method) (singleton_method)] @definition.method))
[(method) (singleton_method)] @definition.function
(assignment left: (constant) @name) @definition.constant
(call method: (identifier) @loader arguments: (argument_list . (string))
  (#any-of? @loader "require" "require_relative" "load")) @import
"""

_USES = """
[(identifier) (constant) (scope_resolution)] @use
(call) @invocation

(method_parameters (identifier) @local)
(lambda_parameters (identifier) @local)
(block_parameters (identifier) @local)
(destructured_parameter (identifier) @local)
(keyword_parameter name: (identifier) @local)
(optional_parameter name: (identifier) @local)
(splat_parameter name: (identifier) @local)
(hash_splat_parameter name: (identifier) @local)
(block_parameter name: (identifier) @local)
(assignment left: (identifier) @local)
(left_assignment_list (identifier) @local)
(exception_variable (identifier) @local)
(for pattern: (identifier) @local)

(superclass (_) @bases)
(body_statement (call method: (identifier) @skip arguments: (argument_list) @bases
  (#any-of? @skip "include" "extend" "prepend")))
(comment) @comment
"""

_REQUIRE = re.compile(r"(\w+)[\s(]+([\"'])(.*?)\2")


def _imports(text: str, line: int) -> Iterator[Import]:
    if match := _REQUIRE.match(text):
        loader, _, module = match.groups()
        if loader == "require_relative" and not module.startswith("."):
            module = f"./{module}"
        yield Import(module, (), "", line, wildcard=True)


RUBY = Language(
    "ruby",
    "tree_sitter_ruby:language",
    _DEFINITIONS,
    _USES,
    _imports,
    invocation_name="method",
)
