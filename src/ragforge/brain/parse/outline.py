"""Outline: the scopes of a file, and the names from which relations are resolved.

Text without a grammar has an outline of chunks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from ragforge.brain.files.exclusions import SkipReason
from ragforge.brain.languages.language import Import
from ragforge.domain.code import CHUNK
from ragforge.records import dataclass

MAX_SIGNATURE_CHARS = 300
MAX_DOCSTRING_CHARS = 2_000

TYPES = frozenset(("class", "interface", "struct", "enum", "trait", "object", "type"))
"""Types of values; they may be inherited from."""
CONTAINERS = TYPES | {"impl"}
"""Definitions with members."""
SPACES = frozenset(("module", "namespace"))
"""Definitions that only hold names."""
HOLDERS = CONTAINERS | SPACES
"""Definitions that hold others."""

TARGET_LINES = 60
_SHORTEST, _LONGEST = 40, 80  # a blank line in this range is preferred to the target


@dataclass(frozen=True, slots=True)
class Definition:
    """A named range of lines; they count from 1 and both ends are included.

    `calls` and `uses` are names in its own body, not in inner definitions. A function that is
    given as a value counts as a call. Their parts are
    joined by dots in every language. A name starts with a dot if what precedes it is
    computed: `f(x).save` gives `.save`.
    """

    name: str
    qualified_name: str
    type: str
    start_line: int  # of the decorators or the comment above it
    end_line: int
    signature: str = ""
    docstring: str = ""
    parent: int | None = None  # index of the enclosing definition in the outline
    bases: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()
    origins: tuple[tuple[str, str], ...] = ()  # of variables and fields: `brain.parse.origins`
    text: str | None = None  # its text, if that differs from the lines of the file


@dataclass(frozen=True, slots=True)
class Outline:
    """What one file defines, imports and uses."""

    language: str | None
    definitions: tuple[Definition, ...]  # by start line, an outer one before its inner ones
    imports: tuple[Import, ...] = ()
    damaged: bool = False  # the file has syntax errors; the scopes around them are here
    reduced: SkipReason | None = None  # why something is missing


def outline_chunks(language: str, path: str, text: str, type_: str = CHUNK) -> Outline:
    """Return the outline of a text in chunks of about sixty lines, cut at blank lines."""
    lines = text.removeprefix("\ufeff").rstrip().split("\n")
    filename = PurePosixPath(path).name
    found: list[Definition] = []
    first = 0
    while first < len(lines):
        if not lines[first].strip():
            first += 1
            continue
        after = cut(lines, first)
        last = after - 1
        while not lines[last].strip():
            last -= 1
        found.append(_build_chunk(type_, filename, lines[first], first + 1, last + 1))
        first = after
    return Outline(language, tuple(found))


def cut(lines: Sequence[str], first: int) -> int:
    """Return the line at which the next chunk starts, counted from 0."""
    if len(lines) - first <= _LONGEST:
        return len(lines)
    target = first + TARGET_LINES
    blank = [line for line in range(first + _SHORTEST, first + _LONGEST) if not lines[line].strip()]
    return min(blank, key=lambda line: abs(line - target), default=target)


def _build_chunk(type_: str, filename: str, first_line: str, start: int, end: int) -> Definition:
    name = f"{filename}:{start}-{end}"
    return Definition(
        name=name,
        qualified_name=name,
        type=type_,
        start_line=start,
        end_line=end,
        signature=" ".join(first_line[: 4 * MAX_SIGNATURE_CHARS].split())[:MAX_SIGNATURE_CHARS],
    )
