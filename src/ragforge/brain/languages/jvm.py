"""Java, Kotlin and Scala, the languages of the JVM."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ragforge.brain.languages.language import Import, Language, NameRules
from ragforge.brain.languages.module_finder import NOTHING, Files, Located, ModuleFinder
from ragforge.brain.languages.paths import ProjectPaths, get_parent, pick_nearest
from ragforge.domain.text import split_words

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


def _read_imports(text: str, line: int) -> Iterator[Import]:
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


_EXTENSIONS = (".java", ".kt", ".scala")
_SOURCE_ROOTS = frozenset(
    ("java", "kotlin", "scala", "src", "main", "test", "app", "common", "jvm")
)
_LANGUAGES = frozenset(("java", "kotlin", "scala"))
_ONE_SEGMENT = frozenset(("java", "javax", "kotlin", "kotlinx", "scala", "android", "androidx"))


class JvmModules(ModuleFinder):
    """Packages are found by the end of a directory's path; one may have several directories."""

    def __init__(self, paths: ProjectPaths, manifests: Mapping[str, str]) -> None:
        super().__init__(paths, manifests)
        self._packages: dict[str, tuple[str, ...]] = {}

    def locate(self, importer: str, module: str) -> Located:
        names = [name.strip("`") for name in module.split(".")]
        if files := self._find_package(importer, names):
            return files, ()
        for count in range(len(names), 0, -1):
            if count < len(names) and not names[count - 1][:1].isupper():
                break
            if found := self._find_file(importer, names[:count]):
                return found, tuple(names[count - 1 :])  # from the class on
        return NOTHING

    def find_submodule(self, importer: str, module: str, name: str) -> Files:
        return self._find_file(importer, [*module.split("."), name])

    def find_siblings(self, path: str) -> Files:
        """Return the files of a package; tests are in the package of what they test."""
        directory = get_parent(path)
        parts = directory.split("/")
        for place in range(len(parts) - 1, 1, -1):
            if parts[place] in _LANGUAGES and parts[place - 2] == "src":
                return self._find_package(path, parts[place + 1 :])
        return self._list_sources(directory)

    def find_library(self, module: str) -> str | None:
        names = module.split(".")
        if names[0] in _LANGUAGES:
            return names[0]
        local = any(self._find_directories(names[:count]) for count in range(len(names), 0, -1))
        if not module or local:
            return None
        return names[0] if names[0] in _ONE_SEGMENT else ".".join(names[:2])

    def _find_file(self, importer: str, names: list[str]) -> Files:
        path = "/".join(names)
        found = [
            file
            for extension in _EXTENSIONS
            for file in self._paths.find_ending(path + extension)
            if _is_at_source_root(file, path + extension)
        ]
        return pick_nearest(found, importer)

    def _find_package(self, importer: str, names: list[str]) -> Files:
        """Return the files of a package: that of the importer's module, else the only one."""
        found = self._find_directories(names)
        if len(found) > 1:
            module = _get_build_module(importer)
            own = tuple(place for place in found if _get_build_module(place) == module)
            found = own or (
                found if len({_get_build_module(place) for place in found}) == 1 else ()
            )
        return tuple(file for directory in found for file in self._list_sources(directory))

    def _find_directories(self, names: list[str]) -> tuple[str, ...]:
        path = "/".join(names)
        known = self._packages.get(path)
        if known is None:
            known = self._packages[path] = tuple(
                directory
                for directory in self._paths.find_directories_ending(path)
                if _is_at_source_root(directory, path) and self._list_sources(directory)
            )
        return known

    def _list_sources(self, directory: str) -> Files:
        return tuple(
            file for file in self._paths.list_files_in(directory) if file.endswith(_EXTENSIONS)
        )


def _is_at_source_root(path: str, end: str) -> bool:
    """Tell whether packages start at a path without its end."""
    root = path[: -len(end)].rstrip("/")
    return not root or root.rpartition("/")[2] in _SOURCE_ROOTS or "scala-" in root


def _get_build_module(path: str) -> str:
    """Return the module of the build that a path belongs to."""
    return f"/{path}/".partition("/src/")[0]


_BUILTIN_NAMES = split_words(
    """
    Any Array Boolean Byte Char CharSequence Class Collection Comparable Double Enum Error
    Exception Float Function Int Integer Iterable Iterator Lazy List Long Map Nothing Number
    Object Override Pair Result Runnable RuntimeException Sequence Set Short String Thread
    Throwable Triple Unit Void Either Left Right Option Some None Seq Vector Future Try Success
    Failure Nil Ordering Ordered Numeric Product Serializable Some App AnyRef AnyVal Test
    TraversableOnce IterableOnce
    """
)
_FOREIGN_WILDCARDS = split_words("java javax scala android androidx")

_JAVA_NAMES = NameRules(
    "jvm",
    self_words=split_words("this"),
    super_words=split_words("super"),
    implicit_members=True,
    file_per_type=True,
    package_names=True,
    wildcard_by_use=True,
    own_names_first=True,
    builtin_names=_BUILTIN_NAMES,
)
# In Kotlin and Scala a file may hold types of any name, and of any package.
_FREE_NAMES = replace(
    _JAVA_NAMES,
    project_types=True,
    bare_types=True,
    foreign_packages=_FOREIGN_WILDCARDS | {"kotlin"},
    foreign_wildcards=_FOREIGN_WILDCARDS,
)

JAVA = Language(
    "java",
    "tree_sitter_java:language",
    _JAVA_DEFINITIONS,
    _JAVA_USES,
    _JAVA_NAMES,
    JvmModules,
    _read_imports,
)
KOTLIN = Language(
    "kotlin",
    "tree_sitter_kotlin:language",
    _KOTLIN_DEFINITIONS,
    _KOTLIN_USES,
    _FREE_NAMES,
    JvmModules,
    _read_imports,
)
SCALA = Language(
    "scala",
    "tree_sitter_scala:language",
    _SCALA_DEFINITIONS,
    _SCALA_USES,
    _FREE_NAMES,
    JvmModules,
    _read_imports,
)
