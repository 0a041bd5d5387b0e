"""Commands about what runs in the background: /jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragforge.errors import InputError
from ragforge.show.calls import format_duration
from ragforge.show.console import fit_line
from ragforge.show.jobs import show_jobs
from ragforge.tui.commands.command import Command

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal

JOBS = 20
USAGE = "Write /jobs, /jobs N to see what a command printed, or /jobs stop N to end it."


async def jobs(terminal: Terminal, argument: str) -> None:
    background, screen = terminal.app.background, terminal.screen
    what, _, number = argument.rpartition(" ")
    if argument:
        if not number.isdecimal() or what not in ("", "stop"):
            raise InputError(USAGE)
        if what:
            await background.stop(int(number))
        command = background.get(int(number))
        screen.say(command.output.text().rstrip("\n"))
        screen.note(_describe(terminal, int(number)))
        return
    for command in background.all():
        screen.say(f"{command.id:>3}  {_describe(terminal, command.id)}")
    queue = terminal.app.jobs
    show_jobs(await queue.find(JOBS), await queue.count())


def _describe(terminal: Terminal, number: int) -> str:
    command = terminal.app.background.get(number)
    state = "running" if command.is_running else command.problem or f"exit {command.exit_code}"
    return f"{fit_line(command.line, 60)}  {state}, {format_duration(command.duration_ms)}"


COMMANDS = (Command("jobs", "[N|stop N]", "Commands and jobs that run in the background", jobs),)
