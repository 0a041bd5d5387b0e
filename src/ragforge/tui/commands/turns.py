"""Commands about turns: /retry, /undo, /context, /compact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragforge.show.call_lines import diff_lines
from ragforge.show.markdown import markdown
from ragforge.show.receipts import show
from ragforge.tui.commands.command import Command, begun

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal


async def retry(terminal: Terminal, argument: str) -> None:
    await terminal.retry(begun(terminal))


async def undo(terminal: Terminal, argument: str) -> None:
    from ragforge.app.undo import undo_last

    undone = await undo_last(terminal.app, begun(terminal).uuid)
    terminal.screen.say(f"{undone.file} is as it was before.")
    for line in diff_lines(undone.diff):
        terminal.screen.out.print(line)


async def context(terminal: Terminal, argument: str) -> None:
    receipt = terminal.receipt or await terminal.app.receipt_in(begun(terminal).uuid)
    if receipt is None:
        terminal.screen.say("No answer in this session has a receipt yet. Ask something.")
    else:
        show(receipt)


async def compact(terminal: Terminal, argument: str) -> None:
    text = await terminal.app.condenser.summarise_all(begun(terminal).uuid)
    terminal.screen.note("What this session is about, for later turns and sessions:")
    terminal.screen.out.print(markdown(text or "Nothing yet."))


COMMANDS = (
    Command("retry", "", "Go on with a turn that broke off", retry),
    Command("undo", "", "Take the last change of a file back", undo),
    Command("context", "", "What the last answer rests on, and why", context),
    Command("compact", "", "Summarise the conversation now", compact),
)
