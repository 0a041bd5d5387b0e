"""Language: what the engine must know of a language to outline its files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tree_sitter import Node

from ragforge.brain.parse.outline import Import


def _no_imports(_text: str, _line: int) -> Iterable[Import]:
    return ()


def field_name(node: Node) -> Node | None:
    """Return the node that holds a definition's name, where the grammar has a field for it."""
    return node.child_by_field_name("name")


@dataclass(frozen=True, slots=True)
class Language:
    """A grammar, two queries and the little that queries cannot say.

    `definitions` is read match by match:

    | capture              | meaning                                                          |
    | -------------------- | ---------------------------------------------------------------- |
    | `@definition.<type>` | a scope; its fields `name` and `body` are taken where they exist  |
    | `@name` `@body`      | the same where the grammar has no such field                     |
    | `@owner`             | the type a method belongs to, where it stands outside of it      |
    | `@wrap` `@inner`     | a node whose range is that of the definition in it               |
    | `@same`              | a node that is no scope of its own but that of the definition    |
    | `@import`            | a statement for `imports`, given its text and line               |

    Where two patterns match one node the first pattern counts. A constant is kept if it is
    written in capitals or takes three lines.

    `uses` is read flat; every capture belongs to the innermost scope around it:

    | capture             | meaning                                                           |
    | ------------------- | ----------------------------------------------------------------- |
    | `@use` `@call`      | a name, or a chain of names of which the longest plain one counts |
    | `@invocation`       | a call with its arguments; it counts up to its name's end         |
    | `@local`            | a name that is bound here and so refers to nothing outside        |
    | `@skip`             | a range without uses                                              |
    | `@bases`            | the list of what a type inherits                                  |
    | `@decorator`        | a decorator's, annotation's or attribute's name                   |
    | `@doc`              | a string that documents its scope                                 |
    | `@signature`        | says what a definition looks like better than its first line      |
    | `@comment` `@lead`  | a comment; another node that belongs to the definition below it    |
    """

    name: str
    grammar: str  # "<module>:<function>"
    definitions: str
    uses: str
    imports: Callable[[str, int], Iterable[Import]] = _no_imports
    name_of: Callable[[Node], Node | None] = field_name
    invocation_name: str = "name"  # the field in an `@invocation`
    sigils: str = ""  # what stands before a variable and is no part of its name
    joins_clauses: bool = False  # neighbours of one name are one definition
    blanked: re.Pattern[bytes] | None = None  # what the grammar would stumble over
    relieved: Callable[[bytes], bytes] | None = None  # a second try for a file with errors
