"""C and C++: their definitions, uses and imports."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from ragforge.brain.parse.language import Language
from ragforge.brain.parse.outline import Import

_CALLABLE = "(function_declarator declarator: [(identifier) (field_identifier)])"
_CPP_CALLABLE = """(function_declarator declarator: [
  (identifier) (field_identifier) (qualified_identifier) (operator_name) (destructor_name)])"""

_NOT_LOCAL = ("translation_unit", "preproc_ifdef", "preproc_if", "preproc_else", "declaration_list")
"""A declaration in one of these is seen by others; one in a function's body is not."""


def _declarations(callable_: str, parents: tuple[str, ...]) -> str:
    declared = f"""[
      (declaration declarator: {callable_})
      (declaration declarator: (pointer_declarator declarator: {callable_}))
      (declaration declarator:
        (pointer_declarator declarator: (pointer_declarator declarator: {callable_})))
    ] @definition.function"""
    constant = "(declaration declarator: (init_declarator)) @definition.constant"
    return "\n".join(f"({parent} {declared})\n({parent} {constant})" for parent in parents)


_DEFINITIONS = """
(function_definition) @definition.function
(type_definition type: (struct_specifier body: (_) @body) @same) @definition.struct
(type_definition type: (union_specifier body: (_) @body) @same) @definition.struct
(type_definition type: (enum_specifier body: (_) @body) @same) @definition.enum
(type_definition) @definition.type
[(struct_specifier body: (_)) (union_specifier body: (_))] @definition.struct
(enum_specifier body: (_)) @definition.enum
(preproc_function_def) @definition.macro
(preproc_def value: (_)) @definition.constant
(preproc_include) @import
"""

_CPP_DEFINITIONS = f"""
(class_specifier body: (_)) @definition.class
(namespace_definition name: (_)) @definition.namespace
(alias_declaration) @definition.type
(concept_definition) @definition.type
(field_declaration declarator: {_CPP_CALLABLE}) @definition.method
(field_declaration declarator: (pointer_declarator declarator: {_CPP_CALLABLE}))
  @definition.method
(field_declaration declarator: (reference_declarator {_CPP_CALLABLE})) @definition.method
(field_declaration declarator: (_) default_value: (_)) @definition.constant
(template_declaration (_) @inner) @wrap
[(using_declaration) (namespace_alias_definition)] @import
"""

_USES = """
[(identifier) (type_identifier) (field_expression)] @use
(call_expression function: [(identifier) (field_expression)] @call)

(parameter_declaration declarator: (identifier) @local)
(declaration declarator: (identifier) @local)
(init_declarator declarator: (identifier) @local)
(pointer_declarator declarator: (identifier) @local)
(array_declarator declarator: (identifier) @local)
(preproc_params (identifier) @local)
(enumerator name: (identifier) @skip)
[(preproc_ifdef name: (_) @skip) (preproc_def name: (_) @skip)]
(type_definition type: [
  (struct_specifier name: (_) @skip) (union_specifier name: (_) @skip)
  (enum_specifier name: (_) @skip)])
(comment) @comment
"""

_CPP_USES = """
(qualified_identifier) @use
(call_expression function: (qualified_identifier) @call)
(call_expression function: (template_function name: (identifier) @call))
(new_expression type: [(type_identifier) (qualified_identifier)] @call)
(new_expression type: (template_type name: (_) @call))

(optional_parameter_declaration declarator: (identifier) @local)
(reference_declarator (identifier) @local)
(for_range_loop declarator: (identifier) @local)
(type_parameter_declaration (type_identifier) @local)
(lambda_capture_specifier) @skip
(attribute_declaration) @skip
(attribute) @decorator
(base_class_clause) @bases
"""

# A macro alone on its line (`G_BEGIN_DECLS`) would swallow the declaration below it.
_LONE_MACRO = re.compile(rb"^[ \t]*_*[A-Z][A-Z0-9_]{3,}[ \t]*$", re.MULTILINE)
_INCLUDE = re.compile(r"#\s*\w+\s*[<\"]([^>\"]+)[>\"]")
_ALIAS = re.compile(r"namespace\s+(\w+)\s*=\s*([\w:]+)")
_USING = re.compile(r"using\s+(namespace\s+|enum\s+|typename\s+)?(?:::)?([\w:]+)")


def _name_of(node: Node) -> Node | None:
    """Return the name inside a declarator: `(*name[3])(int)` has it rather deep."""
    inner: Node | None = node
    while inner is not None and inner.type not in _NAMES:
        inner = (
            inner.child_by_field_name("name")
            or inner.child_by_field_name("declarator")
            or (inner.named_child(0) if inner.type.endswith("declarator") else None)
        )
    return inner


_NAMES = frozenset(
    [
        "identifier",
        "type_identifier",
        "field_identifier",
        "qualified_identifier",
        "operator_name",
        "destructor_name",
        "namespace_identifier",
        "nested_namespace_specifier",
        "template_type",
    ]
)


def _imports(text: str, line: int) -> Iterator[Import]:
    if match := _INCLUDE.match(text):
        yield Import(match.group(1), (), "", line, wildcard=True)
    elif match := _ALIAS.match(text):
        yield Import(match.group(2), (), match.group(1), line)
    elif match := _USING.match(text):
        module, _, name = match.group(2).rpartition("::")
        if match.group(1) and "namespace" in match.group(1):
            yield Import(match.group(2), (), "", line, wildcard=True)
        elif name:
            yield Import(module, ((name, name),), "", line)


C = Language(
    "c",
    "tree_sitter_c:language",
    _DEFINITIONS + _declarations(_CALLABLE, _NOT_LOCAL),
    _USES,
    _imports,
    _name_of,
    blanked=_LONE_MACRO,
)
CPP = Language(
    "cpp",
    "tree_sitter_cpp:language",
    _DEFINITIONS
    + _CPP_DEFINITIONS
    + _declarations(_CPP_CALLABLE, (*_NOT_LOCAL, "field_declaration_list")),
    _USES + _CPP_USES,
    _imports,
    _name_of,
    blanked=_LONE_MACRO,
)
