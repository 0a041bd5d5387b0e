"""Shell scripts: their functions, constants, commands and sourced files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragforge.brain.parse.language import Language
from ragforge.brain.parse.outline import Import

_DEFINITIONS = """
(function_definition) @definition.function
(program (variable_assignment name: (variable_name)) @definition.constant)
(program (declaration_command (variable_assignment name: (variable_name) @name))
  @definition.constant)
(command name: (command_name (word) @source) (#any-of? @source "source" ".")) @import
"""

_USES = """
(command name: (command_name (word) @call (#match? @call "^[A-Za-z_][A-Za-z0-9_-]*$")))
(simple_expansion (variable_name) @use)
(expansion (variable_name) @use)
(declaration_command "local" (variable_assignment name: (variable_name) @local))
(declaration_command "local" (variable_name) @local)
(for_statement variable: (variable_name) @local)
(comment) @comment
"""

_SOURCE = re.compile(r"(?:source|\.)\s+[\"']?([^\"'\s;]+)")


def _imports(text: str, line: int) -> Iterator[Import]:
    if match := _SOURCE.match(text):
        yield Import(match.group(1), (), "", line, wildcard=True)


BASH = Language("bash", "tree_sitter_bash:language", _DEFINITIONS, _USES, _imports)
