"""Line: what a command line is made of, as plain data."""

from __future__ import annotations

from ragforge.records import dataclass
from ragforge.tools.command.plan import ErrorsTo, Joint


@dataclass(frozen=True, slots=True)
class Word:
    """One argument after quoting; `glob` is it as a pattern where it has an unquoted one."""

    text: str
    glob: str | None = None
    plain: bool = True  # nothing in it was quoted


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """A program with its words, the first of which is its name."""

    words: tuple[Word, ...]
    errors_to: ErrorsTo = "stderr"
    silent: bool = False
    input: Word | None = None  # a file that it reads as its input


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Programs joined by `|`, hanging on what stands before them."""

    joint: Joint
    commands: tuple[SimpleCommand, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """`for NAME in WORDS; do …; done`: its pipelines for each value of one variable."""

    joint: Joint
    variable: str
    values: tuple[Word, ...]
    body: tuple[Pipeline, ...]


def mark_quoted(variable: str) -> str:
    """Return what stands in a word for a variable in quotes; no line has such characters."""
    return f"\0{variable}\0"


def mark_bare(variable: str) -> str:
    """Return what stands in a word for a variable that a shell would split at blanks."""
    return f"\1{variable}\1"
