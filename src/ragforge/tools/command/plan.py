"""Plan: a command line as plain data, and what it runs, or why it is refused."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ragforge.records import dataclass

Joint: TypeAlias = Literal["&&", "||", ";"]
ErrorsTo: TypeAlias = Literal["stderr", "stdout", "nowhere"]


class NotAllowed(Exception):
    """A line, or a part of it, is not on the list; the message says why."""


@dataclass(frozen=True, slots=True)
class ForEachName:
    """A command for the names that arrive, as xargs and `find -exec` run it.

    What it becomes with them is decided again, before it runs.
    """

    words: tuple[str, ...]  # the first is a program on the list
    separator: Literal["blank", "line", "nul"] = "blank"
    placeholder: str | None = None  # replaced by a name; without one, names follow the words
    per: int | None = None  # names of one command
    failure: int = 123  # the exit code if one of the commands fails


@dataclass(frozen=True, slots=True)
class Walk:
    """Directories that a program walks itself. Secret files in them are left out by their names."""

    folders: tuple[str, ...]  # relative to the project
    option: str  # tells the program to leave out the files of a name, which is appended to it
    followed_by: int = 0  # words after these options
    seen: tuple[str, ...] = ("-uuu",)  # which files it sees, as options of ripgrep


@dataclass(frozen=True, slots=True)
class GitContent:
    """Of which revisions and paths a git command shows the contents of files."""

    words: tuple[str, ...]  # revisions, objects or paths
    paths: tuple[str, ...] = ()  # after `--`
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Stage:
    """One program of a pipeline: its name, its arguments in canonical form, its directory."""

    program: str
    arguments: tuple[str, ...]
    cwd: str  # absolute, inside the project
    errors_to: ErrorsTo = "stderr"
    silent: bool = False  # its output goes nowhere
    git: str | None = None  # the sub-command, where the program is git
    shows: GitContent | None = None
    input: str | None = None  # a file of the project, relative, that it reads as its input
    apart: bool = False  # it runs in an empty directory: files of the project do not matter to it
    each: ForEachName | None = None
    walk: Walk | None = None


@dataclass(frozen=True, slots=True)
class PipelineStep:
    """One pipeline, and the operator that joins it to the one before; `;` for the first."""

    joint: Joint
    stages: tuple[Stage, ...]


@dataclass(frozen=True, slots=True)
class Allowed:
    """The line is read-only; these are its steps."""

    steps: tuple[PipelineStep, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """The line is not run, for this reason."""

    reason: str


Decision: TypeAlias = Allowed | Refused


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
    """Programs joined by `|`, and how they depend on the pipeline before."""

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
    """Return the mark in a word for a variable in quotes; no line has such characters."""
    return f"\0{variable}\0"


def mark_bare(variable: str) -> str:
    """Return the mark in a word for a variable that a shell would split at blanks."""
    return f"\1{variable}\1"
