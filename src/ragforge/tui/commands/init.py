"""Instructions for agents out of the code graph: /init."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragforge.app.features.draft_instructions import AGENTS_FILE, save_instructions, word_task
from ragforge.tui.choices import confirm
from ragforge.tui.commands.command import Command

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal


async def init(terminal: Terminal, argument: str) -> None:
    """Let the model write AGENTS.md, as a turn like any other; without one, offer the draft."""
    app, screen = terminal.app, terminal.screen
    draft = await app.code.draft_instructions()
    if app.model is not None:
        await terminal.ask(word_task(draft, argument))
        return
    for line in draft.splitlines():
        screen.say(f"{screen.signs.bar} {line}")
    if await confirm(f"Write this to {AGENTS_FILE}?"):
        save_instructions(app.project_path, draft)
        screen.say(f"{AGENTS_FILE} is written.")
    else:
        screen.say("Nothing was written.")


COMMANDS = (
    Command(
        "init", "[WISHES]", "Draft AGENTS.md from the code of this project", init, is_turn=True
    ),
)
