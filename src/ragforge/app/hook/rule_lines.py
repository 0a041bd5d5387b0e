"""Rule lines: the rules of a project as another agent gets them, once in a session."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ragforge.app.hook.session import ContextEntry
from ragforge.domain.text import to_one_line
from ragforge.memory.rules import Rule, find_rules, list_rule_notes, mark_replaced
from ragforge.ports.store import Store

MAX_CHARS = 1_200
"""The limit for all rules together, in addition to the budget of a hook."""
HEAD = "Rules for this project, newest first:"


async def find_rule_lines(
    store: Store,
    project_ids: Sequence[str],
    was_given: Callable[[str], bool] = lambda _: False,
    reader: str | None = None,
    own_session: str = "",
    only_notes: bool = False,
) -> ContextEntry:
    """Return the rules that a session has not received, the newest first; empty if there are none.

    Rule notes come before instructions, which are given only once. Replaced rules and what was said
    in the session itself are left out. With `only_notes` there are no instructions.
    """
    if only_notes:
        rules = mark_replaced(await list_rule_notes(store, project_ids))
    else:
        rules = await find_rules(store, project_ids, reader, own_session)
    held = [rule for rule in rules if not rule.replaced_by]
    new = [rule for rule in held if not was_given(name_rule(rule))]
    if len(new) < len(held):
        new = [rule for rule in new if rule.is_note]
    text, ids = HEAD, tuple[str, ...]()
    for rule in sorted(new, key=lambda one: not one.is_note):
        longer = f"{text}\n{format_rule(rule)}"
        if len(longer) <= MAX_CHARS:
            text, ids = longer, (*ids, name_rule(rule))
    return ContextEntry(text, ids, has_own_room=True) if ids else ContextEntry("")


def name_rule(rule: Rule) -> str:
    """Return the id under which a session notes that it has received a rule."""
    return rule.id if rule.is_note else f"rule:{rule.id}"


def format_rule(rule: Rule) -> str:
    """Return a rule on one line, with its source."""
    source = f"{rule.source}, {rule.when:%Y-%m-%d}" if rule.source else f"{rule.when:%Y-%m-%d}"
    return f"- {to_one_line(rule.text)} ({source})"
