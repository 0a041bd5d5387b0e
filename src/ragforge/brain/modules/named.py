"""Modules that are names and no files: C#'s and Swift's namespaces, Elixir's modules."""

from __future__ import annotations

from ragforge.brain.modules.finder import Finder


class NamespaceModules(Finder):
    """C#: only libraries are known by the name of a namespace."""

    def library(self, module: str) -> str | None:
        names = module.split(".")
        return ".".join(names[: 2 if names[0] == "Microsoft" else 1]) or None


class SwiftModules(Finder):
    """Swift: a module is a target of the build, whose files are in a directory of its name."""

    def library(self, module: str) -> str | None:
        top = module.partition(".")[0]
        return None if not top or self._paths.directories_ending(top) else top


class ElixirModules(Finder):
    """Elixir: a library's modules share their first name."""

    def library(self, module: str) -> str | None:
        top = module.partition(".")[0]
        return None if not top or top == "__MODULE__" else top
