"""Rules: what the user allowed or forbade for good in a project."""

from __future__ import annotations

from pathlib import Path

from ragforge.agent.rule_file import PermissionRules
from ragforge.agent.rules import Effect, Rule, parse_rule
from ragforge.config.settings import Settings
from ragforge.folders import find_project
from ragforge.memory.sessions import normalise

__all__ = ["Effect", "PermissionRules", "Rule", "add_rule", "open_rules"]


def open_rules(settings: Settings, cwd: Path) -> PermissionRules:
    """Return the rules of the project around a directory."""
    return PermissionRules.of(Path(settings.agent.state_dir), find_project(normalise(cwd)))


def add_rule(rules: PermissionRules, effect: Effect, text: str, exact: bool = False) -> Rule:
    """Keep a rule such as `edit_file(src/**)`. Raises InputError if the text is none.

    With `exact`, `*` and `[` in it are characters.
    """
    rule = parse_rule(effect, text, exact)
    rules.add(rule)
    return rule
