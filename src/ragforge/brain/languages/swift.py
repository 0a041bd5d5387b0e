"""Swift."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragforge.brain.languages.language import Import, Language, ModuleFinder, NameRules, load_query
from ragforge.domain.text import split_words

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
    load_query("swift/definitions"),
    load_query("swift/uses"),
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
