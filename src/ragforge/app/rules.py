"""Rules: what the user allowed or forbade for good in a project."""

from __future__ import annotations

from pathlib import Path

from ragforge.agent.rules import Effect, Rule, Rules, rule_of
from ragforge.config.settings import Settings
from ragforge.memory.sessions import find_project, normalise

__all__ = ["Effect", "Rule", "Rules", "add_rule", "open_rules"]


def open_rules(settings: Settings, cwd: Path) -> Rules:
    """Return the rules of the project around a directory."""
    return Rules.of(Path(settings.agent.state_dir), find_project(normalise(cwd)))


def add_rule(rules: Rules, effect: Effect, text: str) -> Rule:
    """Keep a rule such as `edit_file(src/**)`. Raises InputError if the text is none."""
    rule = rule_of(effect, text)
    rules.add(rule)
    return rule
