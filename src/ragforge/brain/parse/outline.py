"""Outline: the scopes of a file, and the names from which relations are resolved."""

from __future__ import annotations

from ragforge.brain.files.names import SkipReason
from ragforge.brain.languages.language import Import
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


@dataclass(frozen=True, slots=True)
class Definition:
    """A named range of lines; they count from 1 and both ends are included.

    `calls` and `uses` are names in its own body, not in inner definitions; their parts are
    joined by dots in every language. A name starts with a dot if what precedes it is
    computed: `f(x).save` gives `.save`.
    """

    name: str
    qualified_name: str
    type: str
    start_line: int  # of the decorators or the comment above it
    end_line: int
    signature: str
    docstring: str
    parent: int | None  # index of the enclosing definition in the outline
    bases: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()
    text: str | None = None  # its text, if that differs from the lines of the file


@dataclass(frozen=True, slots=True)
class Outline:
    """What one file defines, imports and uses."""

    language: str | None
    definitions: tuple[Definition, ...]  # by start line, an outer one before its inner ones
    imports: tuple[Import, ...] = ()
    damaged: bool = False  # the file has syntax errors; the scopes around them are here
    reduced: SkipReason | None = None  # why something is missing
