"""Plan: what an allowed line runs, program by program, and what a refused one is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Joint: TypeAlias = Literal["&&", "||", ";"]
ErrorsTo: TypeAlias = Literal["stderr", "stdout", "nowhere"]


class NotAllowed(Exception):
    """A line, or a part of it, is off the list; the message says why in a sentence."""


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
    """One pipeline, and how it hangs on the one before it; the first hangs on `;`."""

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
