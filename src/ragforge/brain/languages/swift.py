"""Swift."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragforge.brain.languages.language import Import, Language, NameRules
from ragforge.brain.languages.module_finder import ModuleFinder
from ragforge.domain.text import split_words

_DEFINITIONS = """
(class_declaration declaration_kind: "struct") @definition.struct
(class_declaration declaration_kind: "enum") @definition.enum
(class_declaration declaration_kind: "extension") @definition.impl
(class_declaration) @definition.class
(protocol_declaration) @definition.interface
(typealias_declaration) @definition.type
[(function_declaration) (protocol_function_declaration)] @definition.function
(init_declaration "init" @name) @definition.method
(deinit_declaration "deinit" @name) @definition.method
(class_body (property_declaration
  name: (pattern bound_identifier: (_) @name) computed_value: (_) @body) @definition.method)
(class_body (property_declaration name: (pattern bound_identifier: (_) @name))
  @definition.constant)
(source_file (property_declaration name: (pattern bound_identifier: (_) @name))
  @definition.constant)
(import_declaration) @import
"""

_USES = """
[(simple_identifier) (type_identifier) (navigation_expression)] @use
(call_expression . [(simple_identifier) (navigation_expression)] @call)

(parameter external_name: (simple_identifier) @skip)
(parameter name: (simple_identifier) @local)
(lambda_parameter name: (simple_identifier) @local)
(pattern bound_identifier: (simple_identifier) @local)
(if_statement bound_identifier: (simple_identifier) @local)
(guard_statement bound_identifier: (simple_identifier) @local)
(type_parameter . (type_identifier) @local)
(value_argument_label) @skip
(enum_entry name: (simple_identifier) @skip)
(prefix_expression operation: "." target: (simple_identifier) @skip)

(inheritance_specifier) @bases
(attribute) @decorator
[(comment) (multiline_comment)] @comment
"""

_IMPORT = re.compile(
    r"(?:@\w+\s+)*import\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?([\w.]+)"
)


def _read_imports(text: str, line: int) -> Iterator[Import]:
    if match := _IMPORT.search(text):
        yield Import(match.group(1), (), match.group(1), line, wildcard=True)


class SwiftModules(ModuleFinder):
    """A module is a target of the build, whose files are in a directory of its name."""

    def find_library(self, module: str) -> str | None:
        top = module.partition(".")[0]
        return None if not top or self._paths.find_directories_ending(top) else top


_BUILTIN_NAMES = split_words(
    """
    Any Array Bool Character Codable Data Date Dictionary Double Equatable Error Float Hashable
    Int Optional Result Sendable Set String Task UUID URL Void Never
    """
)

SWIFT = Language(
    "swift",
    "tree_sitter_swift:language",
    _DEFINITIONS,
    _USES,
    NameRules(
        "swift",
        self_words=split_words("self Self"),
        super_words=split_words("super"),
        implicit_members=True,
        partial_types=True,
        project_types=True,
        builtin_names=_BUILTIN_NAMES,
    ),
    SwiftModules,
    _read_imports,
)
