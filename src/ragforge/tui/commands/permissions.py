"""Commands about permissions: /permissions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragforge.app.features.permission_rules import Effect, add_rule
from ragforge.errors import InputError
from ragforge.show.visible import make_visible
from ragforge.tui.commands.command import Command

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal

USAGE = (
    "Write /permissions allow RULE, deny RULE or forget NUMBER, such as allow edit_file(src/**)."
)


async def permissions(terminal: Terminal, argument: str) -> None:
    rules, screen = terminal.app.rules, terminal.screen
    what, _, text = argument.partition(" ")
    every = rules.all()
    if what in ("allow", "deny"):
        effect: Effect = "allow" if what == "allow" else "deny"
        add_rule(rules, effect, text)
    elif what == "forget" and text.strip().isdecimal() and 1 <= int(text) <= len(every):
        rules.remove(every[int(text) - 1])
    elif what:
        raise InputError(USAGE)
    every = rules.all()
    if not every:
        screen.say("There are no rules for this project: you are asked before every change.")
    for number, rule in enumerate(every, 1):
        screen.say(f"{number:>3}  {rule.effect:<5}  {make_visible(str(rule))}  ({rule.meaning})")
    if not what:
        screen.note(USAGE)


COMMANDS = (
    Command("permissions", "[allow|deny|forget]", "What is allowed without asking", permissions),
)
