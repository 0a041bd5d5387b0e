"""The screen: what is printed for good, and lines at the bottom that are redrawn."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import field
from typing import Protocol

from rich.cells import cell_len
from rich.console import Console, ConsoleRenderable, RenderableType, RenderHook
from rich.control import Control
from rich.segment import ControlType, Segment, Segments
from rich.text import Text

from ragforge.records import dataclass
from ragforge.show.console import is_for_reader, open_console, sanitise

FRAMES_PER_SECOND = 10
LONGEST = 2_000  # characters of a line
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;:?]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\))")


class TypedLine(Protocol):
    """A line below, in which the user types while something runs."""

    def render(self, width: int) -> list[Text]:
        """Return rows that fit a width."""

    def pause(self) -> AbstractContextManager[None]:
        """Leave the keyboard to a question for a while."""

    async def wait_for_quiet(self) -> None:
        """Return when the user has stopped typing."""


class Redrawn(RenderHook):
    """Draws the result of `render` repeatedly below what is printed, if the screen can be redrawn.

    The line that is typed comes under it and is never cut off.
    """

    def __init__(
        self, screen: Screen, render: Callable[[], RenderableType], typed: TypedLine | None = None
    ) -> None:
        self._screen = screen
        self._render = render
        self._typed = typed
        self._is_shown = False
        self._widths: list[int] = []  # of the lines that are drawn
        self._rewraps = rewraps_lines()
        self._drawing: asyncio.Task[None] | None = None

    def begin(self) -> None:
        self.resume()
        if self._screen.can_redraw:
            self._drawing = asyncio.create_task(self._draw())

    def end(self) -> None:
        if self._drawing is not None:
            self._drawing.cancel()
        self.pause()

    def pause(self) -> None:
        """Remove the lines until `resume`."""
        if not self._is_shown:
            return
        self._is_shown = False
        out = self._screen.out
        out.pop_render_hook()
        out.control(self._erase())
        out.show_cursor(True)

    def resume(self) -> None:
        if self._screen.can_redraw and not self._is_shown:
            self._is_shown = True
            self._screen.out.push_render_hook(self)
            self._screen.out.show_cursor(False)
            self.refresh()

    def refresh(self) -> None:
        """Draw the lines as they are now."""
        if self._is_shown:
            self._screen.out.print(Control())

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """Print above the lines: erase them first, and draw them again."""
        erase = self._erase()
        lines = self._lay_out()
        self._widths = [Segment.get_line_length(line) for line in lines]
        return [erase, *renderables, _join(lines)]

    def _erase(self) -> Control:
        """Return what removes the drawn lines; the cursor is where they began."""
        if not self._widths:
            return Control()
        columns = self._screen.out.width
        rows = count_rows(self._widths, columns) if self._rewraps else len(self._widths)
        up = ((ControlType.CURSOR_UP, 1), (ControlType.ERASE_IN_LINE, 2)) * (rows - 1)
        self._widths = []
        return Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2), *up)

    def _lay_out(self) -> list[list[Segment]]:
        """Return as many lines as fit; of those above, the last."""
        out = self._screen.out
        room = max(out.height - 1, 1)
        typed = self._typed.render(out.width - 1) if self._typed is not None else []
        below = [line for row in typed for line in self._render_lines(row)]
        above = self._render_lines(self._render())
        below = below[-room:]
        return [*above[max(len(above) + len(below) - room, 0) :], *below]

    def _render_lines(self, shown: RenderableType) -> list[list[Segment]]:
        return self._screen.out.render_lines(shown, pad=False)

    def choose_frame(self) -> str:
        """Return the sign of the spinner for this moment."""
        spinner = self._screen.signs.spinner
        return spinner[int(time.monotonic() * FRAMES_PER_SECOND) % len(spinner)]

    async def _draw(self) -> None:
        with suppress(asyncio.CancelledError):
            while True:
                await asyncio.sleep(1 / FRAMES_PER_SECOND)
                self.refresh()


def _join(lines: list[list[Segment]]) -> Segments:
    """Return lines with the cursor at the end of the last."""
    joined = list(lines[0]) if lines else []
    for line in lines[1:]:
        joined += [Segment.line(), *line]
    return Segments(joined)


def clean_line(line: str) -> str:
    """Return a printed line without colours; a bar that is drawn again as it was last."""
    return _ESCAPES.sub("", line.rstrip("\r").rpartition("\r")[2])[:LONGEST].expandtabs(4)


class LastLines:
    """Keeps the last lines of an output, and counts those before."""

    def __init__(self, limit: int) -> None:
        self._count = 0  # of finished lines
        self._lines: deque[str] = deque(maxlen=limit)
        self._unfinished = ""

    def add(self, text: str) -> None:
        """Take the next piece of the output."""
        *lines, rest = (self._unfinished + text).split("\n")
        self._count += len(lines)
        self._lines.extend(map(clean_line, lines))
        self._unfinished = rest[-LONGEST:]

    def count_hidden(self) -> int:
        """Return how many lines came before the last ones."""
        return self._count + bool(self._unfinished) - len(self.get())

    def get(self) -> list[str]:
        """Return the last lines, with one that is not finished."""
        unfinished = [clean_line(self._unfinished)] if self._unfinished else []
        return [*self._lines, *unfinished][-(self._lines.maxlen or 1) :]


MIN_CELLS = 10
"""Of a text that is wrapped, even in a tiny terminal."""


@dataclass(frozen=True, slots=True)
class Signs:
    """The symbols that the terminal uses."""

    done: str = "✓"
    failed: str = "✗"
    open: str = "☐"
    now: str = "▸"
    prompt: str = "❯"
    dot: str = "·"
    bar: str = "│"
    newline: str = "⏎"
    rule: str = "─"
    spinner: tuple[str, ...] = tuple("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
    is_plain: bool = False  # words, for a screen reader

    @property
    def between(self) -> str:
        """What separates the facts of a line."""
        return f"{self.dot} " if self.is_plain else f" {self.dot} "


ASCII = Signs("+", "x", "[ ]", ">", ">", "-", "|", "\\n", "-", tuple("|/-\\"))

PLAIN = Signs("done:", "failed:", "to do:", "now:", ">", ",", "", "\\n", "", ("",), is_plain=True)


def choose_signs(encoding: str | None) -> Signs:
    """Return the signs that an encoding has, or the words for a screen reader."""
    if is_for_reader():
        return PLAIN
    try:
        "✓✗☐▸❯·│⏎─⠋".encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return Signs()


@dataclass(frozen=True, slots=True)
class Screen:
    """The terminal's lines. What is printed stays in its scrollback."""

    out: Console = field(default_factory=lambda: open_console(soft_wrap=False))
    signs: Signs = field(default_factory=lambda: choose_signs(sys.stdout.encoding))

    @property
    def can_redraw(self) -> bool:
        """Whether lines can be drawn again; a screen reader would read each of them again."""
        return self.can_ring and not self.signs.is_plain

    @property
    def can_ring(self) -> bool:
        """Whether the terminal understands more than lines."""
        return self.out.is_terminal and not self.out.is_dumb_terminal

    def say(self, text: str = "", style: str = "") -> None:
        self.out.print(Text(sanitise(text), style=style))

    def say_after(self, lead: str, text: str) -> None:
        """Print a text after a lead; its further lines begin below its first."""
        room = max(self.out.width - cell_len(lead), MIN_CELLS)
        for number, row in enumerate(Text(sanitise(text)).wrap(self.out, room)):
            blank = " " * cell_len(lead) if number else lead
            self.out.print(Text.assemble(blank, row), soft_wrap=True)

    def note(self, text: str) -> None:
        """Print a remark."""
        self.say(text, "dim")

    def problem(self, text: str) -> None:
        """Print what went wrong."""
        self.say(f"{self.signs.failed} {text}" if self.signs.is_plain else text, "red")


def rewraps_lines(environ: Mapping[str, str] = os.environ) -> bool:
    """Tell whether the terminal wraps lines again that no longer fit.

    Most terminals do; xterm, GNU screen and the Linux console cut them off.
    """
    if environ.get("TMUX"):
        return True
    cuts = environ.get("XTERM_VERSION") or environ.get("STY") or environ.get("TERM") == "linux"
    return not cuts


def count_rows(widths: Iterable[int], columns: int) -> int:
    """Return how many rows these lines have in a window of this many columns."""
    return sum(max(1, -(-width // max(columns, 1))) for width in widths)
