"""Outline: the scopes of a file and the raw facts from which relations are resolved."""

from __future__ import annotations

from dataclasses import dataclass

from ragforge.brain.languages.language import Import

MAX_SIGNATURE_CHARS = 300
MAX_DOCSTRING_CHARS = 2_000

TYPES = frozenset(("class", "interface", "struct", "enum", "trait", "object", "type"))
"""What a value can be of; such a definition may be inherited from."""
CONTAINERS = TYPES | {"impl"}
"""What has members."""
SPACES = frozenset(("module", "namespace"))
"""What only holds names."""
HOLDERS = CONTAINERS | SPACES
"""What holds other definitions by their names."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A named range of lines; they count from 1 and both ends are included.

    What is called and what is used otherwise are names as they are written in its own body,
    not in the definitions in it; their parts are joined by dots in every language. One begins
    with a dot if it is that of something computed: `f(x).save` gives `.save`.
    """

    name: str
    qualified_name: str
    type: str
    start_line: int  # of the decorators or the comment that lead it in
    end_line: int
    signature: str
    docstring: str
    parent: int | None  # index of the enclosing definition in the outline
    bases: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()
    text: str | None = None  # what it says, where the lines of the file say it another way


@dataclass(frozen=True, slots=True)
class Outline:
    """What one file defines, imports and uses."""

    language: str | None
    definitions: tuple[Definition, ...]  # by start line, an outer one before its inner ones
    imports: tuple[Import, ...] = ()
    damaged: bool = False  # the file has syntax errors; the scopes around them are here
