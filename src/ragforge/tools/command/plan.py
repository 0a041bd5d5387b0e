"""Plan: what an allowed line runs, program by program, or why a line is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Joint: TypeAlias = Literal["&&", "||", ";"]
ErrorsTo: TypeAlias = Literal["stderr", "stdout", "nowhere"]


class NotAllowed(Exception):
    """A line, or a part of it, is not on the list; the message says why."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One program of a pipeline: its name, its arguments in canonical form, its directory."""

    program: str
    arguments: tuple[str, ...]
    cwd: str  # absolute, inside the project
    errors_to: ErrorsTo = "stderr"
    silent: bool = False  # its output goes nowhere
    git: str | None = None  # the sub-command, where the program is git


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
