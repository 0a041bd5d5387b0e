"""Commands about modes: /mode, /accept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragforge.domain.modes import MODES, Mode, next_mode, parse_mode
from ragforge.errors import InputError
from ragforge.tui.commands.command import Command, require_session

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal

CARRY_OUT = "Carry out the plan."
MEANINGS: dict[Mode, str] = {
    "ask": "you are asked before each change",
    "plan": "nothing is changed, and an answer ends with a plan",
    "accept-edits": "files of the project are changed without asking, commands are asked about",
}


def change_mode(terminal: Terminal) -> None:
    """Go to the next mode: Shift-Tab."""
    terminal.mode = next_mode(terminal.mode)


async def mode(terminal: Terminal, argument: str) -> None:
    if argument:
        terminal.mode = parse_mode(argument.lower().replace(" ", "-"))
        terminal.screen.say(f"Mode {terminal.mode}: {MEANINGS[terminal.mode]}.")
        return
    for name in MODES:
        sign = terminal.screen.signs.now if name == terminal.mode else " "
        terminal.screen.say(f"{sign} {name:<12}  {MEANINGS[name]}")


async def accept(terminal: Terminal, argument: str) -> None:
    require_session(terminal)
    if terminal.mode != "plan":
        raise InputError("There is no plan to accept: this is not plan mode. /mode plan begins it.")
    if argument not in ("", "edits"):
        raise InputError("Write /accept, or /accept edits to allow edits without asking.")
    terminal.mode = "accept-edits" if argument else "ask"
    terminal.screen.note(f"Mode {terminal.mode}: {MEANINGS[terminal.mode]}.")
    await terminal.ask(CARRY_OUT)


COMMANDS = (
    Command("mode", "[NAME]", "Ask before changes, only plan, or accept edits (Shift-Tab)", mode),
    Command(
        "accept", "[edits]", "Carry out the plan that plan mode ended with", accept, is_turn=True
    ),
)
