"""Scope draft: a definition while it is being parsed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

TYPES_WITH_METHODS = frozenset(("class", "interface", "struct", "enum", "trait", "impl", "object"))
"""A function directly in one of these is a method."""
FUNCTIONS = frozenset(("function", "method", "macro"))
"""Names bound in one of these are visible in the scopes inside it."""


@dataclass(slots=True, eq=False)
class ScopeDraft:
    """A definition's range of bytes, and what has been found of it so far."""

    type: str
    name: str
    start: int  # of the node; later of the comments and attributes above it
    end: int
    name_start: int
    name_end: int
    body_start: int
    signature_start: int
    owner: str = ""  # the type it belongs to, if it is outside of it
    torn: bool = False  # there are syntax errors in it
    index: int = 0
    around: ScopeDraft | None = None  # the scope it is written in; None at the top
    parent: ScopeDraft | None = None  # the scope it belongs to
    qualified_name: str = ""
    docstring: str = ""
    documented: bool = False  # by a docstring, which wins over a comment above
    latest: ScopeDraft | None = None  # the last scope in it so far
    filled: int = 0  # where that one ends
    bases: tuple[str, ...] = ()
    decorators: list[str] = field(default_factory=list)
    header_end: int = 0  # names of bases and decorators before it are not uses
    locals: set[str] = field(default_factory=set)
    calls: dict[str, None] = field(default_factory=dict)  # in their order
    uses: dict[str, None] = field(default_factory=dict)


Stretch: TypeAlias = tuple[int, ScopeDraft]  # where it starts, and the innermost scope around it


def list_stretches(root: ScopeDraft, scopes: list[ScopeDraft]) -> list[Stretch]:
    """Return where each stretch of a file starts, and the innermost scope around it.

    A lookup in this list does not depend on how deep scopes are nested.
    """
    found = [(0, root)]
    stack = [root]
    for scope in scopes:
        while len(stack) > 1 and stack[-1].end <= scope.start:
            found.append((stack.pop().end, stack[-1]))
        stack.append(scope)
        found.append((scope.start, scope))
    while len(stack) > 1:
        found.append((stack.pop().end, stack[-1]))
    return found
