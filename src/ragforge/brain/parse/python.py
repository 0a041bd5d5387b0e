"""Python: its definitions, uses and imports."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragforge.brain.parse.language import Language
from ragforge.brain.parse.outline import Import

_COMMENT = re.compile(r"#[^\n]*")
_FILLER = re.compile(r"[\s\\()]+")
_FROM = re.compile(r"from (\.*) ?([\w. ]*?) ?import (.+)")

_DEFINITIONS = """
(function_definition) @definition.function
(class_definition) @definition.class
(decorated_definition definition: (_) @inner) @wrap
(module (expression_statement . (assignment left: (identifier) @name)) @definition.constant)
(class_definition
  body: (block (expression_statement . (assignment left: (identifier) @name)) @definition.constant))
(type_alias_statement left: (type [(identifier) @name (generic_type . (identifier) @name)]))
  @definition.type
[(import_statement) (import_from_statement) (future_import_statement)] @import
"""

_USES = """
(identifier) @use
(attribute) @use
(call function: [(identifier) (attribute)] @call)

(parameters (identifier) @local)
(lambda_parameters (identifier) @local)
(default_parameter name: (identifier) @local)
(typed_parameter . (identifier) @local)
(typed_default_parameter name: (identifier) @local)
(list_splat_pattern (identifier) @local)
(dictionary_splat_pattern (identifier) @local)
(assignment left: (identifier) @local)
(pattern_list (identifier) @local)
(tuple_pattern (identifier) @local)
(for_statement left: (identifier) @local)
(for_in_clause left: (identifier) @local)
(as_pattern_target (identifier) @local)
(named_expression name: (identifier) @local)
(keyword_argument name: (identifier) @skip)

(class_definition superclasses: (argument_list) @bases)
(decorator) @decorator
(module . (comment)* . (expression_statement . (string) @doc))
(class_definition body: (block . (expression_statement . (string) @doc)))
(function_definition body: (block . (expression_statement . (string) @doc)))
(comment) @comment
"""


def _imports(text: str, line: int) -> Iterator[Import]:
    statement = _FILLER.sub(" ", _COMMENT.sub("", text)).strip().rstrip(",")
    if match := _FROM.fullmatch(statement):
        module = match.group(1) + match.group(2).replace(" ", "")
        if module == "__future__":
            return
        if match.group(3) == "*":
            yield Import(module, (), "", line, wildcard=True)
        else:
            yield Import(module, tuple(_renamed(match.group(3))), "", line)
    elif statement.startswith("import "):
        for module, alias in _renamed(statement.removeprefix("import ")):
            yield Import(module, (), alias, line)


def _renamed(text: str) -> Iterator[tuple[str, str]]:
    for part in text.split(","):
        name, _, alias = part.strip().partition(" as ")
        if name := name.replace(" ", ""):
            yield name, alias.strip() or name


PYTHON = Language("python", "tree_sitter_python:language", _DEFINITIONS, _USES, _imports)
