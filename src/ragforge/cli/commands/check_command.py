"""`ragforge check-command`: may a command line run without asking? Nothing is executed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.state import JsonOption, current_directory

if TYPE_CHECKING:
    from ragforge.tools.command.plan import Decision

REFUSED = 1

EXAMPLES = """\b
Examples:
  ragforge check-command "git log --oneline -n 20 -- src"
  ragforge check-command --stdin --json < lines.txt

Exit codes: 0 every line is allowed, 1 one is refused.
"""


def register(app: typer.Typer) -> None:
    app.command("check-command", epilog=EXAMPLES)(check_command)


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
    from ragforge.memory.sessions import find_project
    from ragforge.tools.command.decide import decide
    from ragforge.tools.command.plan import Refused

    if (line is None) != stdin:
        raise typer.BadParameter("give one LINE, or --stdin", param_hint="LINE")
    here = current_directory()
    project = find_project(here) if root is None else here / root
    cwd = str(here) if root is None else None
    lines = _from_stdin() if line is None else [line]
    decisions = [(each, decide(each, str(project), cwd)) for each in lines]
    if as_json:
        _print_json(decisions, many=stdin)
    else:
        _show(decisions, many=stdin)
    if any(isinstance(decision, Refused) for _, decision in decisions):
        raise typer.Exit(REFUSED)


def _from_stdin() -> list[str]:
    import sys

    data = sys.stdin.buffer.read().decode(errors="replace")
    return [line for line in data.split("\n") if line.strip()]


def _as_json(line: str, decision: Decision) -> dict[str, object]:
    from ragforge.tools.command.plan import Allowed

    if isinstance(decision, Allowed):
        runs = [
            [[stage.program, *stage.arguments] for stage in step.stages] for step in decision.steps
        ]
        return {"command": line, "allowed": True, "reason": None, "runs": runs}
    return {"command": line, "allowed": False, "reason": decision.reason, "runs": None}


def _print_json(decisions: list[tuple[str, Decision]], many: bool) -> None:
    from ragforge.show.console import print_json

    found = [_as_json(line, decision) for line, decision in decisions]
    print_json({"commands": found} if many else found[0])


def _show(decisions: list[tuple[str, Decision]], many: bool) -> None:
    from ragforge.show.console import one_line, printable
    from ragforge.tools.command.plan import Refused

    for line, decision in decisions:
        verdict = f"refused: {decision.reason}" if isinstance(decision, Refused) else "allowed"
        typer.echo(printable(f"{one_line(line, 100)}\n  {verdict}" if many else verdict))
