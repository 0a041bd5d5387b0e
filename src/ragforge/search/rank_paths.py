"""Rank paths: what the path of a file says about how often people ask for it."""

from __future__ import annotations

import re
from functools import lru_cache

_REMEMBERED = 1 << 16
_SECONDARY_FOLDER = re.compile(
    r"(^|/)(tests?|testing|specs?|__tests__|testdata|bench|benches|benchmarks?|_?examples?|"
    r"samples?|demos?|docs?|fixtures?|mocks?)(/|$)",
    re.IGNORECASE,
)
_SECONDARY_FILE = re.compile(
    r"(^|/)(test_[^/]*|conftest)\.|(^|/)(tests?|bench(es)?)\.[a-z]+$|"
    r"[._-](tests?|spec|bench|benchmark)\.[a-z]+$|"
    r"(Test|Tests|Spec|IT)\.(java|kt|scala|cs|swift|php)$"
)
_OUTDATED = re.compile(
    r"(^|/)_?(legacy|deprecat\w*|compat\w*|obsolete|v1)(/|\.\w+$)", re.IGNORECASE
)
_INTERNAL = re.compile(r"(^|/)_?(internals?|private|impl|detail)/|(^|[/_.])(internal|impl)\.\w+$")
_WITHOUT_CODE = re.compile(r"(^|/)types?(/|\.[a-z]+$)|\.d\.ts$")
_HEADER = re.compile(r"\.(h|hh|hpp|hxx)$")
_PART = re.compile(r"\w\.[A-Z]\w*\.cs$|\+[^/]*\.swift$")
_WINDOWS = re.compile(r"(^|[/_])(win|win32|windows)(/|\.\w+$)")
_NAME_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
FOLDERS_OWN = frozenset(("__init__", "index", "mod"))
"""Files that are imported by the name of their folder."""


@lru_cache(_REMEMBERED)
def is_secondary(path: str) -> bool:
    """Tell whether a file is a test, an example, documentation or the like."""
    return bool(_SECONDARY_FOLDER.search(path) or _SECONDARY_FILE.search(path))


@lru_cache(_REMEMBERED)
def is_outdated(path: str) -> bool:
    """Tell whether a file is kept for those who still use something old."""
    return bool(_OUTDATED.search(path))


@lru_cache(_REMEMBERED)
def is_internal(path: str) -> bool:
    """Tell whether a file is the inside of an API: people ask for the file that others import."""
    return bool(_INTERNAL.search(path))


@lru_cache(_REMEMBERED)
def is_types_only(path: str) -> bool:
    """Tell whether a file says what there is, and not how it works."""
    return bool(_WITHOUT_CODE.search(path))


@lru_cache(_REMEMBERED)
def is_part(path: str) -> bool:
    """Tell whether a file adds to a type that another file defines."""
    return bool(_PART.search(path))


@lru_cache(_REMEMBERED)
def is_for_windows(path: str) -> bool:
    """Tell whether a file is the variant for Windows of what others have too."""
    return bool(_WINDOWS.search(path))


def is_header(path: str) -> bool:
    """Tell whether a file is a header of C or C++."""
    return bool(_HEADER.search(path))


@lru_cache(_REMEMBERED)
def find_own_name(path: str) -> str:
    """Return by which name people know a file: that of its folder for `mod.rs` and the like."""
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    return folder.rpartition("/")[2] if stem in FOLDERS_OWN and folder else stem


@lru_cache(_REMEMBERED)
def find_kind(path: str) -> str | None:
    """Return what a file has in common with its siblings of one kind, as all `*Connector.java`.

    It is the folder with the last word of the name; None if the name is only that word.
    """
    folder, _, name = path.rpartition("/")
    words = _NAME_WORD.findall(name.rpartition(".")[0])
    return f"{folder}/{words[-1].lower()}" if len(words) > 1 else None
