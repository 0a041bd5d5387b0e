"""Everything that this session changed: /diff."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from ragforge.show.calls import count_changes, format_count
from ragforge.show.diffs import format_diff
from ragforge.show.visible import make_visible
from ragforge.tui.commands.command import Command, require_session

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal

ROWS = 400
"""Of one file: what is longer, nobody reads in a terminal."""
MIXED = "somebody else has changed it too"


async def diff(terminal: Terminal, argument: str) -> None:
    edits = await terminal.app.edits(require_session(terminal).uuid)
    screen = terminal.screen
    found = await edits.list_changes()
    if not found:
        screen.say("This session has changed no file.")
    for one in found:
        text = one.change.whole_diff
        head = Text(f"{make_visible(one.change.path)}  {count_changes(text)}", style="bold")
        if one.is_mixed:
            head.append(f"  ({MIXED})", style="yellow")
        screen.out.print(head)
        rows = format_diff(text, one.change.path, screen.out, screen.out.width - 1)
        for row in rows[:ROWS]:
            screen.out.print(row)
        if hidden := len(rows[ROWS:]):
            screen.note(f"… {format_count(hidden, 'more line', 'more lines')}: !git diff shows all")


COMMANDS = (Command("diff", "", "Everything that this session changed in files", diff),)
