"""PHP's modules: classes in files of their name, and included files."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ragforge.brain.modules.finder import NOTHING, Files, Finder, Located
from ragforge.brain.modules.paths import Paths, joined, only, parent


class PhpModules(Finder):
    """Namespaces lead to directories as composer.json maps them, else by their own names."""

    def __init__(self, paths: Paths, manifests: Mapping[str, str]) -> None:
        super().__init__(paths, manifests)
        self._mapped: list[tuple[str, str]] = []
        for path, text in manifests.items():
            if path.rpartition("/")[2] == "composer.json":
                self._mapped += _mapped(parent(path), text)
        self._mapped.sort(key=lambda pair: (-len(pair[0]), pair))

    def locate(self, importer: str, module: str) -> Located:
        if not module.endswith((".php", ".inc", ".phtml")):
            return NOTHING
        beside = joined(parent(importer), module.lstrip("/"))
        found = self._paths.first(place for place in (beside, module) if place)
        return (found, ()) if found else NOTHING

    def within(self, importer: str, module: str, name: str) -> Files:
        path = f"{module}\\{name}".strip("\\")
        for prefix, directory in self._mapped:
            if path.startswith(prefix):
                place = joined(directory, path[len(prefix) :].replace("\\", "/") + ".php")
                if place and place in self._paths:
                    return (place,)
        end = path.replace("\\", "/") + ".php"
        top, slash, rest = end.partition("/")
        found = self._paths.ending(end)
        return only(found or self._paths.ending(f"{top.lower()}{slash}{rest}"))

    def library(self, module: str) -> str | None:
        top = module.partition("\\")[0]
        if not top or "/" in module or module.endswith((".php", ".inc", ".phtml")):
            return None
        local = any(f"{module}\\".startswith(prefix) for prefix, _ in self._mapped)
        return None if local else top


def _mapped(directory: str, text: str) -> list[tuple[str, str]]:
    """Return which namespace starts where, as a composer.json says."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return []
    found: list[tuple[str, str]] = []
    for section in ("autoload", "autoload-dev"):
        standard = (read.get(section) or {}).get("psr-4") if isinstance(read, dict) else None
        for prefix, places in (standard or {}).items():
            for place in [places] if isinstance(places, str) else places:
                target = joined(directory, place)
                found += [(prefix, target)] if prefix and target is not None else []
    return found
