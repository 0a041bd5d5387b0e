"""Reading order: which files of a project are read first, so that early questions find the most."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ragforge.brain.files.directory import FoundFile
from ragforge.brain.languages.table import detect_language, find_language, is_document
from ragforge.search.rank_paths import is_secondary

_OF_OTHERS = re.compile(
    r"(^|/)(vendor(ed)?|third[-_]?party|externals?|node_modules|dist|static|generated)/",
    re.IGNORECASE,
)


def order_files(
    files: Iterable[FoundFile], wanted: Sequence[str] = (), recent: Sequence[str] = ()
) -> list[FoundFile]:
    """Return files in the order in which they are read.

    Those that are wanted come first, then source, other files, documents, tests and what others
    wrote; of each kind those first that changed lately.
    """
    asked = _number(wanted)
    changed = _number(recent)

    def weigh(file: FoundFile) -> tuple[int, int, int, str]:
        path = file.path
        place = asked.get(path, len(asked))
        return place, _weigh(path), changed.get(path, len(changed)), path

    return sorted(files, key=weigh)


def _number(paths: Sequence[str]) -> dict[str, int]:
    return {path: number for number, path in enumerate(dict.fromkeys(paths))}


def _weigh(path: str) -> int:
    if _OF_OTHERS.search(path):
        return 4
    if is_secondary(path):
        return 3
    language = detect_language(path)
    if is_document(language):
        return 2
    return 0 if find_language(language) is not None else 1
