"""Commands of the user's own shell: `!` and a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragforge.errors import InputError
from ragforge.events import ToolFinished
from ragforge.show.calls import format_duration
from ragforge.show.console import fit_line
from ragforge.show.folded_output import FoldedOutput

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal

SIGN = "!"
NO_LINE = "Write a command after the !, such as !git status"
LINE_CHARS = 60


def find_shell_command(text: str) -> str | None:
    """Return the line after the `!` of an input, or None if it begins with something else."""
    return text.strip().removeprefix(SIGN).strip() if text.lstrip().startswith(SIGN) else None


async def run_shell_command(terminal: Terminal, line: str) -> None:
    """Run a line in the user's shell and show what it prints; it is part of the session."""
    if not line:  # before a session begins
        raise InputError(NO_LINE)
    if terminal.session is None:
        terminal.session = await terminal.app.sessions.create()
    screen = terminal.screen
    async with FoldedOutput(screen, line) as output:
        result = await terminal.app.run_command(line, terminal.session.uuid, output.add)
        output.has_failed = failed = result.exit_code != 0
    duration = format_duration(result.duration_ms)
    sign, style = (screen.signs.failed, "red") if failed else (screen.signs.done, "dim")
    what = f"{sign} {fit_line(line, LINE_CHARS)}"
    screen.say(f"{what}  exit {result.exit_code} {screen.signs.dot} {duration}", style)
    terminal.calls.append(
        ToolFinished(
            *("", "run_command", {"command": line}, result.to_json(), True, None),
            result.duration_ms,
        )
    )
