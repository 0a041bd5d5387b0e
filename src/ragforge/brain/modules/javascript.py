"""JavaScript's and TypeScript's modules: relative paths, path aliases, workspace packages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ragforge.brain.modules.finder import NOTHING, Files, Finder, Located
from ragforge.brain.modules.paths import Paths, ancestors, joined, parent, under

_EXTENSIONS = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
_WRITTEN_FOR = {  # the emitted file's name stands for its source
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
    """The aliases of a tsconfig: what stands before the star, and where that leads."""

    directory: str
    base: str | None
    aliases: tuple[tuple[str, bool, tuple[str, ...]], ...]  # (prefix, has a star, targets)


class JavaScriptModules(Finder):
    """A specifier with a dot is a path; others are looked for in aliases and the workspace."""

    def __init__(self, paths: Paths, manifests: Mapping[str, str]) -> None:
        super().__init__(paths, manifests)
        self._configs: dict[str, _Config] = {}
        self._packages: dict[str, tuple[str, dict[str, Any]]] = {}
        twice: set[str] = set()
        for path, text in sorted(manifests.items()):
            name = path.rpartition("/")[2]
            if name in ("tsconfig.json", "jsconfig.json"):
                self._configs.setdefault(parent(path), _config(parent(path), _read(text)))
            elif name == "package.json" and (package := _read(text).get("name")):
                if package in self._packages:
                    twice.add(package)
                self._packages[package] = (parent(path), _read(text))
        for package in twice:
            del self._packages[package]

    def locate(self, importer: str, module: str) -> Located:
        found = self._found(parent(importer), module)
        return (found, ()) if found else NOTHING

    def library(self, module: str) -> str | None:
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

    def _found(self, directory: str, module: str) -> Files:
        module = module.partition("?")[0]
        if module.startswith("."):
            return self._at(directory, module)
        return (
            self._by_alias(directory, module)
            or self._by_package(module)
            or self._below_source(directory, module)
        )

    def _by_alias(self, directory: str, module: str) -> Files:
        config = next(
            (self._configs[above] for above in ancestors(directory) if above in self._configs),
            None,
        )
        if config is None:
            return ()
        base = config.base if config.base is not None else config.directory
        for prefix, star, targets in config.aliases:
            if module.startswith(prefix) if star else module == prefix:
                for target in targets:
                    if found := self._at(base, target.replace("*", module[len(prefix) :])):
                        return found
        return self._at(config.base, module) if config.base is not None else ()

    def _by_package(self, module: str) -> Files:
        parts = module.split("/")
        for count in (2, 1) if module.startswith("@") else (1,):
            package = self._packages.get("/".join(parts[:count]))
            if package is not None:
                directory, manifest = package
                inner = "/".join(parts[count:])
                for target in _entries(manifest, inner):
                    for place in (target, _BUILT.sub("src/", target), _BUILT.sub("", target)):
                        if found := self._at(directory, place):
                            return found
        return ()

    def _below_source(self, directory: str, module: str) -> Files:
        if module.startswith(("@/", "~/")):
            for above in ancestors(directory):
                if found := self._at(under(above, "src"), module[2:]):
                    return found
        return ()

    def _at(self, directory: str, relative: str) -> Files:
        place = joined(directory, relative)
        return () if place is None else self._paths.first(_candidates(place, relative))


def _candidates(place: str, written: str) -> Iterator[str]:
    name = place.rpartition("/")[2]
    if not written.endswith(("/", "/.", "/..")) and written not in (".", ".."):
        if "." in name:
            yield place
            for end, sources in _WRITTEN_FOR.items():
                if place.endswith(end):
                    yield from (place.removesuffix(end) + source for source in sources)
        yield from (place + end for end in _EXTENSIONS)
    yield from (under(place, f"index{end}") for end in _EXTENSIONS)


def _read(text: str) -> dict[str, Any]:
    """Return the JSON of a manifest, which may have comments; {} if it cannot be read."""
    plain = _STRINGS_OR_COMMENTS.sub(lambda found: found.group(1) or "", text)
    try:
        read = json.loads(_TRAILING_COMMA.sub(r"\1", plain))
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _config(directory: str, read: Mapping[str, Any]) -> _Config:
    options = read.get("compilerOptions")
    options = options if isinstance(options, dict) else {}
    base, paths = options.get("baseUrl"), options.get("paths")
    aliases = [
        (pattern.partition("*")[0], "*" in pattern, _texts(targets))
        for pattern, targets in (paths.items() if isinstance(paths, dict) else ())
    ]
    aliases.sort(key=lambda alias: (alias[1], -len(alias[0])))  # the most exact one decides
    place = joined(directory, base) if isinstance(base, str) else None
    return _Config(directory, place, tuple(aliases))


def _entries(manifest: Mapping[str, Any], inner: str) -> Iterator[str]:
    """Yield the places in a package that a specifier may mean, the likeliest first."""
    exports = manifest.get("exports")
    if isinstance(exports, dict):
        yield from _texts(exports.get(f"./{inner}" if inner else "."))
    if inner:
        yield from (inner, f"src/{inner}")
        return
    yield from _texts([manifest.get(field) for field in _ENTRIES])
    yield from ("src/index", "index")


def _texts(value: Any) -> tuple[str, ...]:
    """Return the strings in a value, however deep."""
    if isinstance(value, str):
        return (value.removeprefix("./"),)
    inner: Iterable[Any] = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict | list):
        return tuple(text for part in inner for text in _texts(part))
    return ()
