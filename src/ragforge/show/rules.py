"""Rules of what is allowed, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragforge.show.console import print_note, print_table
from ragforge.show.visible import make_visible

if TYPE_CHECKING:
    from ragforge.app.rules import Rule


def rule_to_json(rule: Rule) -> dict[str, object]:
    return {"effect": rule.effect, "rule": str(rule), "kind": rule.kind}


def show_rules(rules: Sequence[Rule]) -> None:
    """Show rules as a table."""
    if rules:
        rows = [[rule.effect, make_visible(str(rule)), rule.meaning] for rule in rules]
        print_table(["Effect", "Rule", "Meaning"], rows)
    else:
        print_note("There are no rules here: every edit and every other command is asked for.")
