"""Commands about turns: /retry, /context, /compact, /mode, /accept, /expand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from ragforge.domain.modes import MODES, Mode
from ragforge.errors import InputError
from ragforge.show.answers import show_receipt
from ragforge.show.call_lines import format_call, format_full_call
from ragforge.show.markdown import render_markdown
from ragforge.tui.commands.command import Command, require_session

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal

CARRY_OUT = "Carry out the plan."
MEANINGS: dict[Mode, str] = {
    "ask": "RagForge asks before each change",
    "plan": "nothing is changed, and the answer is a plan",
    "accept-edits": "files of the project are changed without asking; commands need a yes",
    "auto": "edits and commands in a sandbox without network need no yes",
}
LISTED = 20


async def retry(terminal: Terminal, argument: str) -> None:
    await terminal.retry(require_session(terminal))


async def context(terminal: Terminal, argument: str) -> None:
    receipt = terminal.receipt or await terminal.app.sessions.last_receipt(
        require_session(terminal).uuid
    )
    if receipt is None:
        terminal.screen.say("No answer in this session has a receipt yet. Ask a question first.")
    else:
        show_receipt(receipt)


async def compact(terminal: Terminal, argument: str) -> None:
    text = await terminal.app.memory.summarise(require_session(terminal).uuid)
    terminal.screen.note("Summary of this session, for later turns and sessions:")
    terminal.screen.out.print(render_markdown(text or "Nothing yet."))


async def mode(terminal: Terminal, argument: str) -> None:
    if argument:
        terminal.mode = terminal.app.require_mode(argument.lower().replace(" ", "-"))
        terminal.screen.say(f"Mode {terminal.mode}: {MEANINGS[terminal.mode]}.")
        return
    for name in MODES:
        sign = terminal.screen.signs.now if name == terminal.mode else " "
        terminal.screen.say_after(f"{sign} {name:<12}  ", MEANINGS[name])


async def accept(terminal: Terminal, argument: str) -> None:
    require_session(terminal)
    if terminal.mode != "plan":
        raise InputError("There is no plan to accept: the mode is not plan. /mode plan starts it.")
    if argument not in ("", "edits"):
        raise InputError("Write /accept, or /accept edits to allow edits without asking.")
    terminal.mode = "accept-edits" if argument else "ask"
    terminal.screen.note(f"Mode {terminal.mode}: {MEANINGS[terminal.mode]}.")
    await terminal.ask(CARRY_OUT)


async def expand(terminal: Terminal, argument: str) -> None:
    calls, screen = terminal.calls, terminal.screen
    if not argument and not calls:
        screen.note("No tool was called in this terminal yet.")
        return
    if argument == "list":
        for number, call in list(enumerate(calls, 1))[-LISTED:]:
            shown = format_call(call, screen.signs, screen.out.width - 5)
            for row, line in enumerate(shown.split("\n")):
                screen.out.print(Text.assemble("    " if row else f"{number:>3} ", line))
        return
    argument = argument or str(len(calls))
    if not argument.isdecimal() or not 1 <= int(argument) <= len(calls):
        raise InputError(f"There are {len(calls)} tool calls. /expand list numbers them.")
    call = calls[int(argument) - 1]
    screen.out.print(Group(*format_full_call(call, screen)))


COMMANDS = (
    Command("retry", "", "Resume a turn that was interrupted", retry, is_turn=True),
    Command("context", "", "The context of the last answer, and why", context),
    Command("compact", "", "Summarise the conversation now", compact),
    Command(
        "mode", "[NAME]", "Ask before changes, only plan, accept edits, or auto (Shift-Tab)", mode
    ),
    Command("accept", "[edits]", "Carry out the plan of plan mode", accept, is_turn=True),
    Command("expand", "[N|list]", "The last tool call, or the n-th, in full", expand),
)
