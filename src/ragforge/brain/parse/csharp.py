"""C#: its definitions, uses and imports."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragforge.brain.parse.language import Language
from ragforge.brain.parse.outline import Import
from ragforge.brain.parse.preprocessor import first_branches

_DEFINITIONS = """
[(namespace_declaration) (file_scoped_namespace_declaration)] @definition.namespace
[(class_declaration) (record_declaration)] @definition.class
(interface_declaration) @definition.interface
(struct_declaration) @definition.struct
(enum_declaration) @definition.enum
(delegate_declaration) @definition.type
[(method_declaration) (constructor_declaration) (destructor_declaration)] @definition.method
(local_function_statement) @definition.function
(property_declaration accessors: (accessor_list (accessor_declaration body: (_))) @body)
  @definition.method
(property_declaration value: (arrow_expression_clause) @body) @definition.method
(field_declaration (variable_declaration (variable_declarator name: (_) @name)))
  @definition.constant
(using_directive) @import
"""

_USES = """
[(identifier) (member_access_expression) (qualified_name)] @use
(invocation_expression function: [(identifier) (member_access_expression)] @call)
(invocation_expression function: (generic_name . (identifier) @call))
(invocation_expression function: (conditional_access_expression
  (member_binding_expression name: (identifier) @call)))
(object_creation_expression type: [(identifier) (qualified_name)] @call)
(object_creation_expression type: (generic_name . (identifier) @call))

(parameter name: (identifier) @local)
(implicit_parameter) @local
(variable_declarator name: (identifier) @local)
(foreach_statement left: (identifier) @local)
(catch_declaration name: (identifier) @local)
(declaration_expression name: (identifier) @local)
(declaration_pattern name: (identifier) @local)
(type_parameter name: (identifier) @local)
(argument name: (identifier) @skip)
(enum_member_declaration name: (identifier) @skip)
(property_declaration name: (identifier) @skip)

(base_list) @bases
(attribute) @decorator
(comment) @comment
"""

_USING = re.compile(
    r"(?:global\s+)?using\s+(?P<static>static\s+)?(?:(?P<alias>\w+)\s*=\s*)?(?P<path>[\w.]+)"
)


def _imports(text: str, line: int) -> Iterator[Import]:
    if match := _USING.match(text):
        alias = match.group("alias") or ""
        yield Import(match.group("path"), (), alias, line, wildcard=not alias)


CSHARP = Language(
    "csharp",
    "tree_sitter_c_sharp:language",
    _DEFINITIONS,
    _USES,
    _imports,
    relieved=first_branches,
)
