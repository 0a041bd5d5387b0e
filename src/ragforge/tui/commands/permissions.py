"""Commands about permissions: /permissions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragforge.agent.rules import Effect, rule_of
from ragforge.app.agent import rules_of
from ragforge.errors import InputError
from ragforge.tui.commands.command import Command

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal

USAGE = (
    "Write /permissions allow RULE, deny RULE or forget NUMBER, such as allow edit_file(src/**)."
)


async def permissions(terminal: Terminal, argument: str) -> None:
    rules, screen = rules_of(terminal.app), terminal.screen
    what, _, told = argument.partition(" ")
    known = rules.all()
    if what in ("allow", "deny"):
        effect: Effect = "allow" if what == "allow" else "deny"
        rules.add(rule_of(effect, told))
    elif what == "forget" and told.strip().isdecimal() and 1 <= int(told) <= len(known):
        rules.remove(known[int(told) - 1])
    elif what:
        raise InputError(USAGE)
    known = rules.all()
    if not known:
        screen.say("There are no rules for this project: you are asked before every change.")
    for number, rule in enumerate(known, 1):
        screen.say(f"{number:>3}  {rule.effect:<5}  {rule}")
    if not what:
        screen.note(USAGE)


COMMANDS = (
    Command("permissions", "[allow|deny|forget]", "What is allowed without asking", permissions),
)
