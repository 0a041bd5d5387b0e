"""JavaScript, TypeScript and TSX."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ragforge.brain.languages.language import (
    NOTHING,
    Files,
    Import,
    Language,
    Located,
    ModuleFinder,
    NameRules,
    ProjectPaths,
    get_parent,
    join_path,
    list_ancestors,
    load_query,
    resolve_path,
)
from ragforge.domain.text import split_words
from ragforge.records import dataclass

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
    wildcard, passed_on = star is not None and not alias, head.lstrip().startswith("export")
    yield Import(module, tuple(names), alias, line, wildcard, passed_on)


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
    call_words=split_words("apply bind call"),
    reexports=True,
    default_export=True,
)

JAVASCRIPT = Language(
    "javascript",
    "tree_sitter_javascript:language",
    load_query("ecmascript/definitions", "javascript/definitions"),
    load_query("ecmascript/uses", "jsx/uses", "javascript/uses"),
    _NAMES,
    JavaScriptModules,
    _read_imports,
    function_values=True,
)
TYPESCRIPT = replace(
    JAVASCRIPT,
    name="typescript",
    grammar="tree_sitter_typescript:language_typescript",
    definitions=load_query("ecmascript/definitions", "typescript/definitions"),
    uses=load_query("ecmascript/uses", "typescript/uses"),
)
TSX = replace(
    TYPESCRIPT,
    name="tsx",
    grammar="tree_sitter_typescript:language_tsx",
    uses=load_query("ecmascript/uses", "jsx/uses", "typescript/uses"),
)
