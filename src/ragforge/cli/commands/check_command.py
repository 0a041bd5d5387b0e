"""`ragforge check-command`: may a command line run without asking? Nothing is executed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.loading import get_current_directory
from ragforge.cli.state import JsonOption
from ragforge.show.console import fit_line, sanitise

if TYPE_CHECKING:
    from ragforge.app.features.permission_rules import Decision

REFUSED = 1


def register(app: typer.Typer) -> None:
    app.command("check-command", epilog="check-command")(check_command)


def check_command(
    line: Annotated[
        str | None, typer.Argument(metavar="LINE", help="A command line, in quotes.")
    ] = None,
    *,
    stdin: Annotated[
        bool, typer.Option("--stdin", help="Read command lines from stdin, one a line.")
    ] = False,
    root: Annotated[
        Path | None,
        typer.Option("--root", metavar="DIR", help="The project; this directory's if missing."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Tell whether a command line is read-only, and why not. Nothing is executed."""
    from ragforge.app.features.permission_rules import Refused, check_commands
    from ragforge.show.console import print_json

    if (line is None) != stdin:
        raise typer.BadParameter("give one LINE, or --stdin", param_hint="LINE")
    here = get_current_directory()
    lines = _read_stdin() if line is None else [line]
    decisions = check_commands(lines, here, None if root is None else here / root)
    if as_json:
        found = [decision_to_json(*each) for each in decisions]
        print_json({"commands": found} if stdin else found[0])
    else:
        show_decisions(decisions, many=stdin)
    if any(isinstance(decision, Refused) for _, decision in decisions):
        raise typer.Exit(REFUSED)


def _read_stdin() -> list[str]:
    import sys

    data = sys.stdin.buffer.read().decode(errors="replace")
    return [line for line in data.split("\n") if line.strip()]


def decision_to_json(line: str, decision: Decision) -> dict[str, object]:
    from ragforge.app.features.permission_rules import Refused

    if isinstance(decision, Refused):
        return {"command": line, "allowed": False, "reason": decision.reason, "runs": None}
    runs = [[[stage.program, *stage.arguments] for stage in step.stages] for step in decision.steps]
    return {"command": line, "allowed": True, "reason": None, "runs": runs}


def show_decisions(decisions: Sequence[tuple[str, Decision]], many: bool) -> None:
    """Show whether each line is allowed; where there are `many`, below the line itself."""
    from ragforge.app.features.permission_rules import Refused

    for line, decision in decisions:
        verdict = f"refused: {decision.reason}" if isinstance(decision, Refused) else "allowed"
        text = sanitise(f"{fit_line(line, 100)}\n  {verdict}" if many else verdict)
        sys.stdout.write(f"{text}\n")
