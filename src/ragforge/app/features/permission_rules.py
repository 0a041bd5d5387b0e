"""Permission rules: what the user allowed or forbade, and which commands are read-only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragforge.agent.rules import Effect, PermissionRule, PermissionRules, parse_rule
from ragforge.config.settings import Settings
from ragforge.folders import find_project
from ragforge.memory.sessions import normalise
from ragforge.tools.command.decide import decide
from ragforge.tools.command.plan import Allowed, Decision, Refused

__all__ = [
    "Allowed",
    "Decision",
    "Effect",
    "PermissionRule",
    "PermissionRules",
    "Refused",
    "add_rule",
    "check_commands",
    "open_rules",
]


def open_rules(settings: Settings, cwd: Path) -> PermissionRules:
    """Return the rules of the project around a directory."""
    return PermissionRules.of(Path(settings.agent.state_dir), find_project(normalise(cwd)))


def add_rule(
    rules: PermissionRules, effect: Effect, text: str, exact: bool = False
) -> PermissionRule:
    """Keep a rule such as `edit_file(src/**)`. Raises InputError if the text is none.

    With `exact`, `*` and `[` in it are characters.
    """
    rule = parse_rule(effect, text, exact)
    rules.add(rule)
    return rule


def check_commands(
    lines: Sequence[str], cwd: Path, root: Path | None = None
) -> list[tuple[str, Decision]]:
    """Return each line with whether it is read-only, and why not.

    Lines run in `cwd`; a `root` replaces the project of that directory.
    """
    project, place = (find_project(cwd), str(cwd)) if root is None else (root, None)
    return [(line, decide(line, str(project), place)) for line in lines]
