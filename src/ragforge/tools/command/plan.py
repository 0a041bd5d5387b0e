"""Plan: what an allowed line runs, program by program, or why a line is refused."""

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
    placeholder: str | None = None  # replaced by a name; without one, names stand at the end
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
