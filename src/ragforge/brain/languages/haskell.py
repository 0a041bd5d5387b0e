"""Haskell."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragforge.brain.languages.language import (
    NOTHING,
    Import,
    Language,
    Located,
    ModuleFinder,
    NameRules,
    keep_single,
    load_query,
)

_IMPORT = re.compile(
    r"import\s+(?:safe\s+)?(?P<early>qualified\s+)?(?:\"[^\"]*\"\s+)?(?P<module>[\w.']+)"
    r"(?P<late>\s+qualified)?(?:\s+as\s+(?P<alias>[\w.']+))?"
    r"\s*(?P<hiding>hiding\s*)?(?:\((?P<names>.*)\))?",
    re.DOTALL,
)
_NAME = re.compile(r"\(([^\w\s()]+)\)|([\w']+)(?:\s*\([^)]*\))?")


def _read_imports(text: str, line: int) -> Iterator[Import]:
    match = _IMPORT.match(text)
    if match is None:
        return
    module = match.group("module")
    alias = match.group("alias") or module
    names: tuple[tuple[str, str], ...] = ()
    if match.group("names") and not match.group("hiding"):
        found = [operator or name for operator, name in _NAME.findall(match.group("names"))]
        names = tuple((name, name) for name in found if name not in ("type", "pattern"))
    qualified = bool(match.group("early") or match.group("late"))
    yield Import(module, names, alias, line, wildcard=not names and not qualified)


class HaskellModules(ModuleFinder):
    """`A.B.C` is the one file `A/B/C.hs`."""

    def locate(self, importer: str, module: str) -> Located:
        found = keep_single(self._paths.find_ending(f"{module.replace('.', '/')}.hs"))
        return (found, ()) if found else NOTHING

    def find_library(self, module: str) -> str | None:
        names = module.split(".")
        if not names[0][:1].isupper() or self._paths.find_directories_ending(names[0]):
            return None
        return ".".join(names[:2]) or None


HASKELL = Language(
    "haskell",
    "tree_sitter_haskell:language",
    load_query("haskell/definitions"),
    load_query("haskell/uses"),
    NameRules("haskell", bases_in_body=True, impl_adds_members=False, hides_imports=True),
    HaskellModules,
    _read_imports,
    joins_clauses=True,
)
