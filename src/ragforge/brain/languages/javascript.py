"""JavaScript, TypeScript and TSX."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragforge.brain.languages.language import Import, Language, NameRules
from ragforge.brain.languages.module_finder import NOTHING, Files, Located, ModuleFinder
from ragforge.brain.languages.paths import (
    ProjectPaths,
    get_parent,
    join_path,
    list_ancestors,
    resolve_path,
)
from ragforge.domain.text import split_words
from ragforge.records import dataclass

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


def _read_imports(text: str, line: int) -> Iterator[Import]:
    source = _SOURCE.search(text)
    if source is None:
        return
    module = source.group(2)
    before = text[: source.start()]
    if match := _REQUIRE.match(text):
        yield _read_require(module, match, line)
        return
    head = _COMMENT.sub("", before) if "/" in before else before
    names: list[tuple[str, str]] = []
    if default := _DEFAULT.match(head + " from"):
        names.append(("default", default.group(1)))
    if braces := _BRACES.search(head):
        names += _split_names(braces.group(1))
    star = _STAR.search(head)
    alias = (star.group(1) or "") if star else ""
    yield Import(module, tuple(names), alias, line, wildcard=star is not None and not alias)


def _read_require(module: str, match: re.Match[str], line: int) -> Import:
    bound = match.group("bound").strip().removeprefix("import ")
    member = match.group("member")
    if braces := _BRACES.search(bound):
        return Import(module, tuple(_split_names(braces.group(1))), "", line)
    if member:
        return Import(module, ((member, bound),), "", line)
    return Import(module, (), bound, line)


def _split_names(text: str) -> Iterator[tuple[str, str]]:
    for part in text.split(","):
        words = _RENAMED.split(part.strip().removeprefix("type ").split("=")[0].strip())
        if words[0]:
            yield words[0], words[-1]


_EXTENSIONS = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
_WRITTEN_FOR = {  # the name of a built file means its source
    ".js": (".ts", ".tsx", ".d.ts", ".jsx"),
    ".jsx": (".tsx",),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}
_STRINGS_OR_COMMENTS = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_BUILT = re.compile(r"^(?:dist|lib|build|out)/(?:(?:esm|cjs|es|src)/)?")
_ENTRIES = ("source", "module", "main", "types", "typings")


@dataclass(frozen=True, slots=True)
class _Config:
    """The path aliases of a tsconfig."""

    directory: str
    base: str | None
    aliases: tuple[tuple[str, bool, tuple[str, ...]], ...]  # (prefix, has a star, targets)


class JavaScriptModules(ModuleFinder):
    """A specifier with a dot is a path; others are aliases or packages of the workspace."""

    def __init__(self, paths: ProjectPaths, manifests: Mapping[str, str]) -> None:
        super().__init__(paths, manifests)
        self._configs: dict[str, _Config] = {}
        self._packages: dict[str, tuple[str, dict[str, Any]]] = {}
        twice: set[str] = set()
        for path, text in sorted(manifests.items()):
            name = path.rpartition("/")[2]
            if name in ("tsconfig.json", "jsconfig.json"):
                self._configs.setdefault(
                    get_parent(path), _read_config(get_parent(path), _read_json(text))
                )
            elif name == "package.json" and (package := _read_json(text).get("name")):
                if package in self._packages:
                    twice.add(package)
                self._packages[package] = (get_parent(path), _read_json(text))
        for package in twice:
            del self._packages[package]

    def locate(self, importer: str, module: str) -> Located:
        found = self._find(get_parent(importer), module)
        return (found, ()) if found else NOTHING

    def find_library(self, module: str) -> str | None:
        if module.startswith((".", "/", "@/", "~", "#", "$")) or not module:
            return None
        first, _, rest = module.removeprefix("node:").partition("/")
        name = f"{first}/{rest.partition('/')[0]}" if first.startswith("@") else first
        if name in self._packages or ":" in name or "?" in name:
            return None
        for config in self._configs.values():
            for prefix, star, _ in config.aliases:
                if prefix and (module.startswith(prefix) if star else module == prefix):
                    return None
        return name

    def _find(self, directory: str, module: str) -> Files:
        module = module.partition("?")[0]
        if module.startswith("."):
            return self._find_at(directory, module)
        return (
            self._find_by_alias(directory, module)
            or self._find_by_package(module)
            or self._find_below_source(directory, module)
        )

    def _find_by_alias(self, directory: str, module: str) -> Files:
        config = next(
            (self._configs[above] for above in list_ancestors(directory) if above in self._configs),
            None,
        )
        if config is None:
            return ()
        base = config.base if config.base is not None else config.directory
        for prefix, star, targets in config.aliases:
            if module.startswith(prefix) if star else module == prefix:
                for target in targets:
                    if found := self._find_at(base, target.replace("*", module[len(prefix) :])):
                        return found
        return self._find_at(config.base, module) if config.base is not None else ()

    def _find_by_package(self, module: str) -> Files:
        parts = module.split("/")
        for count in (2, 1) if module.startswith("@") else (1,):
            package = self._packages.get("/".join(parts[:count]))
            if package is not None:
                directory, manifest = package
                inner = "/".join(parts[count:])
                for target in _list_entries(manifest, inner):
                    for place in (target, _BUILT.sub("src/", target), _BUILT.sub("", target)):
                        if found := self._find_at(directory, place):
                            return found
        return ()

    def _find_below_source(self, directory: str, module: str) -> Files:
        if module.startswith(("@/", "~/")):
            for above in list_ancestors(directory):
                if found := self._find_at(join_path(above, "src"), module[2:]):
                    return found
        return ()

    def _find_at(self, directory: str, relative: str) -> Files:
        place = resolve_path(directory, relative)
        return () if place is None else self._paths.pick_first(_list_candidates(place, relative))


def _list_candidates(place: str, written: str) -> Iterator[str]:
    name = place.rpartition("/")[2]
    if not written.endswith(("/", "/.", "/..")) and written not in (".", ".."):
        if "." in name:
            yield place
            for end, sources in _WRITTEN_FOR.items():
                if place.endswith(end):
                    yield from (place.removesuffix(end) + source for source in sources)
        yield from (place + end for end in _EXTENSIONS)
    yield from (join_path(place, f"index{end}") for end in _EXTENSIONS)


def _read_json(text: str) -> dict[str, Any]:
    """Return the JSON of a manifest, which may have comments; {} if it cannot be read."""
    plain = _STRINGS_OR_COMMENTS.sub(lambda found: found.group(1) or "", text)
    try:
        read = json.loads(_TRAILING_COMMA.sub(r"\1", plain))
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _read_config(directory: str, read: Mapping[str, Any]) -> _Config:
    options = read.get("compilerOptions")
    options = options if isinstance(options, dict) else {}
    base, paths = options.get("baseUrl"), options.get("paths")
    aliases = [
        (pattern.partition("*")[0], "*" in pattern, _collect_texts(targets))
        for pattern, targets in (paths.items() if isinstance(paths, dict) else ())
    ]
    aliases.sort(key=lambda alias: (alias[1], -len(alias[0])))  # the most exact one wins
    place = resolve_path(directory, base) if isinstance(base, str) else None
    return _Config(directory, place, tuple(aliases))


def _list_entries(manifest: Mapping[str, Any], inner: str) -> Iterator[str]:
    """Yield the paths in a package that a specifier may mean, the likeliest first."""
    exports = manifest.get("exports")
    if isinstance(exports, dict):
        yield from _collect_texts(exports.get(f"./{inner}" if inner else "."))
    if inner:
        yield from (inner, f"src/{inner}")
        return
    yield from _collect_texts([manifest.get(field) for field in _ENTRIES])
    yield from ("src/index", "index")


def _collect_texts(value: Any) -> tuple[str, ...]:
    """Return the strings in a value, however deep."""
    if isinstance(value, str):
        return (value.removeprefix("./"),)
    inner: Iterable[Any] = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict | list):
        return tuple(text for part in inner for text in _collect_texts(part))
    return ()


_NAMES = NameRules(
    "javascript",
    self_words=split_words("this"),
    super_words=split_words("super"),
    reexports=True,
    default_export=True,
)

JAVASCRIPT = Language(
    "javascript",
    "tree_sitter_javascript:language",
    _DEFINITIONS + _JAVASCRIPT_DEFINITIONS,
    _USES + _JSX_USES + _JAVASCRIPT_USES,
    _NAMES,
    JavaScriptModules,
    _read_imports,
)
TYPESCRIPT = Language(
    "typescript",
    "tree_sitter_typescript:language_typescript",
    _DEFINITIONS + _TYPESCRIPT_DEFINITIONS,
    _USES + _TYPESCRIPT_USES,
    _NAMES,
    JavaScriptModules,
    _read_imports,
)
TSX = Language(
    "tsx",
    "tree_sitter_typescript:language_tsx",
    _DEFINITIONS + _TYPESCRIPT_DEFINITIONS,
    _USES + _JSX_USES + _TYPESCRIPT_USES,
    _NAMES,
    JavaScriptModules,
    _read_imports,
)
