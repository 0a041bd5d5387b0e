"""Commands about tool calls: /expand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group

from ragforge.errors import InputError
from ragforge.show.call_lines import format_call, format_full_call
from ragforge.tui.commands.command import Command

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal

LISTED = 20


async def expand(terminal: Terminal, argument: str) -> None:
    if not argument:
        expand_last(terminal)
        return
    calls, screen = terminal.calls, terminal.screen
    if argument == "list":
        for number, call in list(enumerate(calls, 1))[-LISTED:]:
            screen.out.print(f"{number:>3} ", format_call(call, screen.signs, screen.out.width - 5))
        return
    if not argument.isdecimal() or not 1 <= int(argument) <= len(calls):
        raise InputError(f"There are {len(calls)} tool calls. /expand list numbers them.")
    call = calls[int(argument) - 1]
    screen.out.print(Group(*format_full_call(call, screen)))


def expand_last(terminal: Terminal) -> None:
    """Show the last tool call in full."""
    screen = terminal.screen
    if not terminal.calls:
        screen.note("No tool was called in this terminal yet.")
        return
    screen.out.print(Group(*format_full_call(terminal.calls[-1], screen)))


COMMANDS = (Command("expand", "[N|list]", "The last tool call, or the n-th, in full", expand),)
