"""JavaScript, TypeScript and TSX: their definitions, uses and imports."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragforge.brain.parse.language import Language
from ragforge.brain.parse.outline import Import

_FUNCTION_BODY = """[
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)
]"""

_DEFINITIONS = f"""
[(function_declaration) (generator_function_declaration)] @definition.function
(class_declaration) @definition.class
(class_body (method_definition) @definition.method)
(variable_declarator name: (identifier) value: {_FUNCTION_BODY}) @definition.function
(variable_declarator name: (identifier) value: (class body: (_) @body)) @definition.class

(assignment_expression
  left: (member_expression
    object: (member_expression object: (_) @owner property: (_) @prototype)
    property: (_) @name)
  right: {_FUNCTION_BODY}
  (#eq? @prototype "prototype")) @definition.method
(assignment_expression
  left: (member_expression object: (_) @exports property: (_) @name)
  right: {_FUNCTION_BODY}
  (#any-of? @exports "exports" "module.exports")) @definition.function
(assignment_expression
  left: (member_expression object: (identifier) @owner property: (_) @name)
  right: {_FUNCTION_BODY}) @definition.function
(assignment_expression
  left: (member_expression) @exports
  right: (object [
    (method_definition) @definition.function
    (pair key: (_) @name value: {_FUNCTION_BODY}) @definition.function
  ])
  (#eq? @exports "module.exports"))

(export_statement "default" @name
  value: [(function_expression) (generator_function) (arrow_function)] @definition.function)
(export_statement "default" @name value: (class) @definition.class)
(export_statement "default" @name value: (object)) @definition.constant

(program [(lexical_declaration (variable_declarator name: (identifier)) @definition.constant)
          (variable_declaration (variable_declarator name: (identifier)) @definition.constant)])
(program (export_statement declaration:
  (lexical_declaration (variable_declarator name: (identifier)) @definition.constant)))

(export_statement declaration: (_) @inner) @wrap
(export_statement value: (_) @inner) @wrap
(lexical_declaration . (variable_declarator) @inner .) @wrap
(variable_declaration . (variable_declarator) @inner .) @wrap
(expression_statement (assignment_expression) @inner) @wrap

(import_statement) @import
(export_statement source: (_)) @import
(variable_declarator
  value: [
    (call_expression function: (identifier) @require arguments: (arguments . (string)))
    (member_expression object:
      (call_expression function: (identifier) @require arguments: (arguments . (string))))
  ]
  (#eq? @require "require")) @import
(call_expression function: (identifier) @require arguments: (arguments . (string))
  (#eq? @require "require")) @import
(call_expression function: (import) arguments: (arguments . (string))) @import
"""

_USES = """
[(identifier) (shorthand_property_identifier) (member_expression)] @use
(call_expression function: [(identifier) (member_expression)] @call)
(call_expression function: (await_expression [(identifier) (member_expression)] @call))
(new_expression constructor: [(identifier) (member_expression)] @call)

(variable_declarator name: (identifier) @local)
(arrow_function parameter: (identifier) @local)
(array_pattern (identifier) @local)
(rest_pattern (identifier) @local)
(assignment_pattern left: (identifier) @local)
(pair_pattern value: (identifier) @local)
(shorthand_property_identifier_pattern) @local
(catch_clause parameter: (identifier) @local)
(for_in_statement left: (identifier) @local)
(function_expression name: (identifier) @local)
(statement_identifier) @skip
(assignment_expression left: (member_expression) @skip
  right: [(arrow_function) (function_expression) (generator_function)])

(class_heritage) @bases
(decorator) @decorator
(comment) @comment
"""

_JSX_USES = """
(jsx_opening_element name: [(identifier) (member_expression)] @call)
(jsx_self_closing_element name: [(identifier) (member_expression)] @call)
(jsx_opening_element name: (identifier) @skip (#match? @skip "^[a-z]"))
(jsx_self_closing_element name: (identifier) @skip (#match? @skip "^[a-z]"))
(jsx_closing_element) @skip
"""

_JAVASCRIPT_DEFINITIONS = f"""
(class_body (field_definition property: (_) @name value: {_FUNCTION_BODY}) @definition.method)
(class_body (field_definition property: (_) @name) @definition.constant)
"""

_JAVASCRIPT_USES = "(formal_parameters (identifier) @local)"

_TYPESCRIPT_DEFINITIONS = f"""
(abstract_class_declaration) @definition.class
(interface_declaration) @definition.interface
(type_alias_declaration) @definition.type
(enum_declaration) @definition.enum
[(internal_module) (module)] @definition.namespace
(function_signature) @definition.function
(class_body [(abstract_method_signature) (method_signature)] @definition.method)
(interface_body (method_signature) @definition.method)
(class_body (public_field_definition value: {_FUNCTION_BODY}) @definition.method)
(class_body (public_field_definition) @definition.constant)
(ambient_declaration (_) @inner) @wrap
(expression_statement (internal_module) @inner) @wrap
"""

_TYPESCRIPT_USES = """
[(type_identifier) (nested_type_identifier)] @use
(call_expression function: (non_null_expression [(identifier) (member_expression)] @call))
(required_parameter pattern: (identifier) @local)
(optional_parameter pattern: (identifier) @local)
(type_parameter name: (type_identifier) @local)
(extends_type_clause) @bases
(class_body (decorator) @lead)
"""

_SOURCE = re.compile(
    r"""(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*(["'`])(.*?)\1""", re.DOTALL
)
_REQUIRE = re.compile(
    r"(?P<bound>.*?)=\s*require\s*\([^)]*\)\s*(?:\.\s*(?P<member>[\w$]+))?", re.DOTALL
)
_BRACES = re.compile(r"\{([^}]*)\}", re.DOTALL)
_STAR = re.compile(r"\*(?:\s*as\s+([\w$]+))?")
_DEFAULT = re.compile(r"import\s+(?:type\s+(?!from\b))?([\w$]+)\s*(?:,|from\b|=)")
_RENAMED = re.compile(r"\s+as\s+|\s*:\s*")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def _imports(text: str, line: int) -> Iterator[Import]:
    source = _SOURCE.search(text)
    if source is None:
        return
    module = source.group(2)
    before = text[: source.start()]
    if match := _REQUIRE.match(text):
        yield _required(module, match, line)
        return
    head = _COMMENT.sub("", before) if "/" in before else before
    names: list[tuple[str, str]] = []
    if default := _DEFAULT.match(head + " from"):
        names.append(("default", default.group(1)))
    if braces := _BRACES.search(head):
        names += _renamed(braces.group(1))
    star = _STAR.search(head)
    alias = (star.group(1) or "") if star else ""
    yield Import(module, tuple(names), alias, line, wildcard=star is not None and not alias)


def _required(module: str, match: re.Match[str], line: int) -> Import:
    bound = match.group("bound").strip().removeprefix("import ")
    member = match.group("member")
    if braces := _BRACES.search(bound):
        return Import(module, tuple(_renamed(braces.group(1))), "", line)
    if member:
        return Import(module, ((member, bound),), "", line)
    return Import(module, (), bound, line)


def _renamed(text: str) -> Iterator[tuple[str, str]]:
    for part in text.split(","):
        words = _RENAMED.split(part.strip().removeprefix("type ").split("=")[0].strip())
        if words[0]:
            yield words[0], words[-1]


JAVASCRIPT = Language(
    "javascript",
    "tree_sitter_javascript:language",
    _DEFINITIONS + _JAVASCRIPT_DEFINITIONS,
    _USES + _JSX_USES + _JAVASCRIPT_USES,
    _imports,
)
TYPESCRIPT = Language(
    "typescript",
    "tree_sitter_typescript:language_typescript",
    _DEFINITIONS + _TYPESCRIPT_DEFINITIONS,
    _USES + _TYPESCRIPT_USES,
    _imports,
)
TSX = Language(
    "tsx",
    "tree_sitter_typescript:language_tsx",
    _DEFINITIONS + _TYPESCRIPT_DEFINITIONS,
    _USES + _JSX_USES + _TYPESCRIPT_USES,
    _imports,
)
