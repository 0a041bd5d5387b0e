"""Go: its definitions, uses and imports."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragforge.brain.parse.language import Language
from ragforge.brain.parse.outline import Import

_DEFINITIONS = """
(function_declaration) @definition.function
(method_declaration receiver: (parameter_list (parameter_declaration type: [
  (type_identifier) @owner
  (generic_type type: (type_identifier) @owner)
  (pointer_type (type_identifier) @owner)
  (pointer_type (generic_type type: (type_identifier) @owner))
]))) @definition.method
(method_declaration) @definition.method
(type_spec type: (struct_type (field_declaration_list) @body)) @definition.struct
(type_spec type: (interface_type) @body) @definition.interface
[(type_spec) (type_alias)] @definition.type
(interface_type (method_elem) @definition.method)
(source_file (const_declaration (const_spec name: (_) @name)) @definition.constant)
(source_file (var_declaration (var_spec name: (_) @name)) @definition.constant)
(source_file (var_declaration
  (var_spec_list (var_spec name: (_) @name) @definition.constant)))
(type_declaration . [(type_spec) (type_alias)] @inner .) @wrap
(import_spec) @import
"""

_USES = """
[(identifier) (type_identifier) (qualified_type) (selector_expression)] @use
(call_expression function: [(identifier) (selector_expression)] @call)
(call_expression function: (type_instantiation_expression type: (_) @call))
(composite_literal type: [(type_identifier) (qualified_type)] @call)
(composite_literal type: (generic_type type: [(type_identifier) (qualified_type)] @call))

(parameter_declaration name: (identifier) @local)
(variadic_parameter_declaration name: (identifier) @local)
(type_parameter_declaration name: (identifier) @local)
(short_var_declaration left: (expression_list (identifier) @local))
(range_clause left: (expression_list (identifier) @local))
(type_switch_statement alias: (expression_list (identifier) @local))
(var_spec name: (identifier) @local)
(const_spec name: (identifier) @local)
(keyed_element key: (literal_element (identifier) @skip))
(package_clause) @skip
(label_name) @skip

(field_declaration !name type: (_) @bases)
(interface_type (type_elem . [(type_identifier) (qualified_type) (generic_type)] @bases .))
(comment) @comment
"""

_SPEC = re.compile(r"(?:(?P<alias>[\w.]+)\s*)?[\"`](?P<path>[^\"`]*)[\"`]")
_VERSION = re.compile(r"v\d+")
_VERSION_SUFFIX = re.compile(r"\.v\d+$")


def _imports(text: str, line: int) -> Iterator[Import]:
    match = _SPEC.match(text)
    if match is None:
        return
    path, alias = match.group("path"), match.group("alias")
    if alias == ".":
        yield Import(path, (), "", line, wildcard=True)
    else:
        yield Import(path, (), _package(path) if alias is None else alias.strip("_"), line)


def _package(path: str) -> str:
    """Return what a package is called by custom: its last segment, without a version."""
    segments = path.split("/")
    if len(segments) > 1 and _VERSION.fullmatch(segments[-1]):
        segments.pop()
    return _VERSION_SUFFIX.sub("", segments[-1])


GO = Language("go", "tree_sitter_go:language", _DEFINITIONS, _USES, _imports)
