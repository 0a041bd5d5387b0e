"""Commands about turns: /retry, /undo, /context, /compact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragforge.show.diffs import format_diff
from ragforge.show.markdown import render_markdown
from ragforge.show.receipts import show_receipt
from ragforge.tui.commands.command import Command, require_session

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal


async def retry(terminal: Terminal, argument: str) -> None:
    await terminal.retry(require_session(terminal))


async def undo(terminal: Terminal, argument: str) -> None:
    undone = await terminal.app.undo(require_session(terminal).uuid)
    terminal.screen.say(f"{undone.file} is as it was before.")
    out = terminal.screen.out
    for row in format_diff(undone.diff, undone.file, out, out.width - 1):
        out.print(row)


async def context(terminal: Terminal, argument: str) -> None:
    receipt = terminal.receipt or await terminal.app.sessions.last_receipt(
        require_session(terminal).uuid
    )
    if receipt is None:
        terminal.screen.say("No answer in this session has a receipt yet. Ask something.")
    else:
        show_receipt(receipt)


async def compact(terminal: Terminal, argument: str) -> None:
    text = await terminal.app.memory.summarise(require_session(terminal).uuid)
    terminal.screen.note("What this session is about, for later turns and sessions:")
    terminal.screen.out.print(render_markdown(text or "Nothing yet."))


COMMANDS = (
    Command("retry", "", "Resume a turn that broke off", retry, is_turn=True),
    Command("undo", "", "Take the last change of a file back", undo),
    Command("context", "", "What the last answer rests on, and why", context),
    Command("compact", "", "Summarise the conversation now", compact),
)
