"""Checked command lines, as text and as JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragforge.show.console import fit_line, sanitise

if TYPE_CHECKING:
    from ragforge.app.check_command import Decision


def decision_to_json(line: str, decision: Decision) -> dict[str, object]:
    from ragforge.app.check_command import Refused

    if isinstance(decision, Refused):
        return {"command": line, "allowed": False, "reason": decision.reason, "runs": None}
    runs = [[[stage.program, *stage.arguments] for stage in step.stages] for step in decision.steps]
    return {"command": line, "allowed": True, "reason": None, "runs": runs}


def show_decisions(decisions: Sequence[tuple[str, Decision]], many: bool) -> None:
    """Show whether each line is allowed; where there are `many`, below the line itself."""
    from ragforge.app.check_command import Refused

    for line, decision in decisions:
        verdict = f"refused: {decision.reason}" if isinstance(decision, Refused) else "allowed"
        text = sanitise(f"{fit_line(line, 100)}\n  {verdict}" if many else verdict)
        sys.stdout.write(f"{text}\n")
