"""Commands that the user or a trusted project wrote, as Markdown files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragforge.app.prompts import PromptFile, expand_arguments
from ragforge.tui.commands.command import Command

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal


def make_own_commands(files: Sequence[PromptFile], taken: Sequence[Command]) -> list[Command]:
    """Return the commands of files; one with the name of another command is left out."""
    names = {command.name for command in taken}
    return [_make_command(file) for file in files if file.name not in names]


def _make_command(file: PromptFile) -> Command:
    async def run(terminal: Terminal, argument: str) -> None:
        await terminal.ask(expand_arguments(file.body, argument))

    return Command(file.name, file.argument_hint, file.description, run, is_turn=True)
