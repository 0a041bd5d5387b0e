"""Check commands: may a command line run without asking? Nothing is executed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragforge.folders import find_project
from ragforge.tools.command.decide import decide
from ragforge.tools.command.plan import Allowed, Decision, Refused

__all__ = ["Allowed", "Decision", "Refused", "check_commands"]


def check_commands(
    lines: Sequence[str], cwd: Path, root: Path | None = None
) -> list[tuple[str, Decision]]:
    """Return each line with whether it is read-only, and why not.

    Lines run in `cwd`, or with a `root` in that directory, which is then the project.
    """
    project, place = (find_project(cwd), str(cwd)) if root is None else (root, None)
    return [(line, decide(line, str(project), place)) for line in lines]
