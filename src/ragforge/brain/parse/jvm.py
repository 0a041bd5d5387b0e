"""The JVM's languages, Java, Kotlin and Scala: their definitions, uses and imports."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragforge.brain.parse.language import Language
from ragforge.brain.parse.outline import Import

_JAVA_DEFINITIONS = """
[(class_declaration) (record_declaration)] @definition.class
[(interface_declaration) (annotation_type_declaration)] @definition.interface
(enum_declaration) @definition.enum
[(method_declaration) (constructor_declaration) (compact_constructor_declaration)
 (annotation_type_element_declaration)] @definition.method
(field_declaration declarator: (variable_declarator name: (_) @name)) @definition.constant
(constant_declaration declarator: (variable_declarator name: (_) @name)) @definition.constant
(import_declaration) @import
"""

_JAVA_USES = """
[(identifier) (type_identifier) (field_access) (scoped_type_identifier)] @use
(method_invocation) @invocation
(method_reference) @use
(object_creation_expression type: [(type_identifier) (scoped_type_identifier)] @call)
(object_creation_expression
  type: (generic_type . [(type_identifier) (scoped_type_identifier)] @call))

(formal_parameter name: (identifier) @local)
(catch_formal_parameter name: (identifier) @local)
(enhanced_for_statement name: (identifier) @local)
(resource name: (identifier) @local)
(variable_declarator name: (identifier) @local)
(lambda_expression parameters: (identifier) @local)
(inferred_parameters (identifier) @local)
(type_pattern (identifier) @local)
(type_parameter . (type_identifier) @local)
(element_value_pair key: (identifier) @skip)
(enum_constant name: (identifier) @skip)
(labeled_statement . (identifier) @skip)
(package_declaration) @skip

[(superclass) (super_interfaces) (extends_interfaces)] @bases
[(marker_annotation) (annotation)] @decorator
[(line_comment) (block_comment)] @comment
"""

_KOTLIN_DEFINITIONS = """
(class_declaration "interface") @definition.interface
(class_declaration (enum_class_body) @body) @definition.enum
(class_declaration) @definition.class
(object_declaration) @definition.object
(function_declaration (user_type) @owner . "." . name: (_)) @definition.function
(function_declaration) @definition.function
(secondary_constructor "constructor" @name) @definition.method
(type_alias type: (identifier) @name) @definition.type
(source_file (property_declaration (variable_declaration . (identifier) @name))
  @definition.constant)
(class_body (property_declaration (variable_declaration . (identifier) @name))
  @definition.constant)
(import) @import
"""

_KOTLIN_USES = """
[(identifier) (navigation_expression)] @use
(call_expression . [(identifier) (navigation_expression)] @call)

(parameter . (identifier) @local)
(variable_declaration . (identifier) @local)
(catch_block . (identifier) @local)
(type_parameter (identifier) @local)
(class_parameter (identifier) @local)
(value_argument . (identifier) @skip . "=")
(enum_entry . (identifier) @skip)
(package_header) @skip

(delegation_specifiers) @bases
(annotation) @decorator
[(line_comment) (block_comment)] @comment
"""

_SCALA_DEFINITIONS = """
(class_definition) @definition.class
(trait_definition) @definition.trait
[(object_definition) (package_object)] @definition.object
(enum_definition) @definition.enum
(type_definition) @definition.type
[(function_definition) (function_declaration)] @definition.function
(given_definition name: (_)) @definition.object
(template_body [
  (val_definition pattern: (identifier) @name)
  (var_definition pattern: (identifier) @name)
] @definition.constant)
(compilation_unit (val_definition pattern: (identifier) @name) @definition.constant)
(import_declaration) @import
"""

_SCALA_USES = """
[(identifier) (type_identifier) (field_expression) (stable_type_identifier)] @use
(call_expression function: [(identifier) (field_expression)] @call)
(generic_function function: [(identifier) (field_expression)] @call)
(instance_expression . [(type_identifier) (stable_type_identifier)] @call)
(instance_expression . (generic_type type: (_) @call))

(parameter name: (identifier) @local)
(class_parameter name: (identifier) @local)
(binding name: (identifier) @local)
(lambda_expression parameters: (identifier) @local)
(val_definition pattern: (identifier) @local)
(var_definition pattern: (identifier) @local)
(enumerator . (identifier) @local)
(capture_pattern name: (identifier) @local)
(typed_pattern . (identifier) @local)
(type_parameters name: (identifier) @local)
(interpolated_string_expression interpolator: (identifier) @skip)
(simple_enum_case name: (identifier) @skip)
(package_clause name: (_) @skip)

(extends_clause) @bases
(annotation) @decorator
[(comment) (block_comment)] @comment
"""

_IMPORT = re.compile(r"import\s+(static\s+)?(.*?);?\s*$", re.DOTALL)
_PATH = re.compile(r"(?P<module>[\w.`]*?)\.?(?P<last>\{[^}]*\}|[\w`]+|\*)")
_RENAMED = re.compile(r"\s*(?:=>|\bas\b)\s*")
_OUTSIDE_BRACES = re.compile(r",(?![^{]*\})")
_EVERYTHING = frozenset(("*", "_", "given"))


def _imports(text: str, line: int) -> Iterator[Import]:
    statement = _IMPORT.match(text)
    if statement is None:
        return
    for part in _OUTSIDE_BRACES.split(statement.group(2)):
        path, *alias = _RENAMED.split(part.strip()) if "{" not in part else [part.strip()]
        match = _PATH.fullmatch(path.replace(" ", "") if "{" not in path else path)
        if match is None:
            continue
        module, last = match.group("module"), match.group("last")
        members = last.strip("{}").split(",") if "{" in last else [" as ".join([last, *alias])]
        names = []
        for member in members:
            name, *other = _RENAMED.split(member.strip())
            if name in _EVERYTHING:
                yield Import(module, (), "", line, wildcard=True)
            elif name:
                names.append((name, other[0] if other else name))
        if names:
            yield Import(module, tuple(names), "", line)


JAVA = Language("java", "tree_sitter_java:language", _JAVA_DEFINITIONS, _JAVA_USES, _imports)
KOTLIN = Language(
    "kotlin", "tree_sitter_kotlin:language", _KOTLIN_DEFINITIONS, _KOTLIN_USES, _imports
)
SCALA = Language("scala", "tree_sitter_scala:language", _SCALA_DEFINITIONS, _SCALA_USES, _imports)
