"""Commands of the user's own shell: `!` and a line."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from rich.text import Text

from ragforge.errors import InputError
from ragforge.events import ToolFinished
from ragforge.show.calls import format_count, format_duration
from ragforge.show.console import fit_line, sanitise
from ragforge.show.screen import LONGEST, Redrawn, Screen, TypedLine, clean_line

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal

SIGN = "!"
NO_LINE = "Write a command after the !, such as !git status"
LINE_CHARS = 60

HEAD = 20
TAIL = 10


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
    async with FoldedOutput(screen, line, terminal.typing) as output:
        with terminal.typing.listen(output.refresh, can_steer=False):
            result = await terminal.app.run_command(line, terminal.session.uuid, output.add)
        output.has_failed = failed = result.exit_code != 0
    duration = format_duration(result.duration_ms)
    sign, style = (screen.signs.failed, "red") if failed else (screen.signs.done, "dim")
    what = f"{sign} {fit_line(line, LINE_CHARS)}"
    screen.say(f"{what}  exit {result.exit_code}{screen.signs.between}{duration}", style)
    terminal.calls.append(
        ToolFinished(
            *("", "run_command", {"command": line}, result.to_json(), True, None),
            result.duration_ms,
        )
    )


class FoldedOutput:
    """Prints the lines of a running command, with a line below that says how long it takes."""

    def __init__(self, screen: Screen, what: str, typed: TypedLine) -> None:
        self._screen = screen
        self._what = what
        self.has_failed = False  # said before the end: the last lines are red then
        self._began = time.monotonic()
        self._unfinished = ""
        self._count = 0
        self._tail: deque[str] = deque(maxlen=TAIL)
        self._state = Redrawn(screen, self._render_state, typed)
        self.refresh = self._state.refresh

    async def __aenter__(self) -> FoldedOutput:
        self._state.begin()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._unfinished:
            self._add_line(self._unfinished)
            self._unfinished = ""
        self._state.end()
        if (hidden := self._count - HEAD - len(self._tail)) > 0:
            self._screen.note(f"… {format_count(hidden, 'more line', 'more lines')}: /expand")
        for line in self._tail:
            self._screen.say(line, "red" if self.has_failed else "")

    def add(self, text: str) -> None:
        """Take the next piece of the output."""
        *lines, rest = (self._unfinished + text).split("\n")
        for line in lines:
            self._add_line(line)
        self._unfinished = rest[-LONGEST:]

    def _add_line(self, line: str) -> None:
        clean = clean_line(line)
        self._count += 1
        if self._count <= HEAD:
            self._screen.say(clean)
        else:
            self._tail.append(clean)

    def _render_state(self) -> Text:
        seconds = time.monotonic() - self._began
        end = f"  {format_count(self._count, 'line', 'lines')}, {seconds:.0f} s"
        line = f"{self._state.choose_frame()} {sanitise(self._what)}"
        width = self._screen.out.width - len(end) - 20
        return Text(f"{fit_line(line, max(width, 10))}{end}  Esc ends it", style="dim")
