"""Go."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ragforge.brain.languages.language import Import, Language, NameRules
from ragforge.brain.languages.module_finder import NOTHING, Files, Located, ModuleFinder
from ragforge.brain.languages.paths import ProjectPaths, get_parent, join_path

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


def _read_imports(text: str, line: int) -> Iterator[Import]:
    match = _SPEC.match(text)
    if match is None:
        return
    path, alias = match.group("path"), match.group("alias")
    if alias == ".":
        yield Import(path, (), "", line, wildcard=True)
    else:
        yield Import(path, (), _list_package(path) if alias is None else alias.strip("_"), line)


def _list_package(path: str) -> str:
    """Return the usual name of a package: the last segment of its path, without a version."""
    segments = path.split("/")
    if len(segments) > 1 and _VERSION.fullmatch(segments[-1]):
        segments.pop()
    return _VERSION_SUFFIX.sub("", segments[-1])


_MODULE = re.compile(r"^\s*module\s+\"?([^\s\"]+)", re.MULTILINE)
_HOSTS_WITH_OWNERS = frozenset(("github.com", "gitlab.com", "bitbucket.org", "golang.org"))
_TEST = "_test.go"


class GoModules(ModuleFinder):
    """Import paths start with the path of a module, which its go.mod states."""

    def __init__(self, paths: ProjectPaths, manifests: Mapping[str, str]) -> None:
        super().__init__(paths, manifests)
        self._modules = sorted(
            (
                (found.group(1), get_parent(path))
                for path, text in manifests.items()
                if path.rpartition("/")[2] == "go.mod" and (found := _MODULE.search(text))
            ),
            key=lambda module: -len(module[0]),
        )

    def locate(self, importer: str, module: str) -> Located:
        for name, directory in self._modules:
            if module == name or module.startswith(f"{name}/"):
                inner = module[len(name) + 1 :]
                files = self._list_package(join_path(directory, inner) if inner else directory)
                return (files, ()) if files else NOTHING
        return NOTHING

    def find_siblings(self, path: str) -> Files:
        if path.endswith(_TEST):
            found = self._paths.list_files_in(get_parent(path))
            return tuple(file for file in found if file.endswith(".go"))
        return self._list_package(get_parent(path))

    def find_library(self, module: str) -> str | None:
        if any(module == name or module.startswith(f"{name}/") for name, _ in self._modules):
            return None
        parts = module.split("/")
        if "." not in parts[0]:
            return module or None
        return "/".join(parts[: 3 if parts[0] in _HOSTS_WITH_OWNERS else 2])

    def _list_package(self, directory: str) -> Files:
        files = self._paths.list_files_in(directory)
        return tuple(file for file in files if file.endswith(".go") and not file.endswith(_TEST))


GO = Language(
    "go",
    "tree_sitter_go:language",
    _DEFINITIONS,
    _USES,
    NameRules(
        "go",
        receiver=re.compile(r"func\s*\(\s*(\w+)\s+[*\w]"),
        bases_in_body=True,
        methods_in_package=True,
        package_names=True,
        lowercase_types=True,
    ),
    GoModules,
    _read_imports,
)
