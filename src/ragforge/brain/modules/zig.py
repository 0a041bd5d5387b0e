"""Zig's modules: imported files."""

from __future__ import annotations

from ragforge.brain.modules.finder import NOTHING, Finder, Located
from ragforge.brain.modules.paths import joined, parent


class ZigModules(Finder):
    """A name that ends in `.zig` is a path; others are packages of the build."""

    def locate(self, importer: str, module: str) -> Located:
        place = joined(parent(importer), module) if module.endswith(".zig") else None
        found = self._paths.first((place,)) if place else ()
        return (found, ()) if found else NOTHING

    def library(self, module: str) -> str | None:
        return None if module.endswith((".zig", ".zon")) or not module else module
