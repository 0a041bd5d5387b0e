"""The screen: where everything is printed for good, with the signs it can show."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import field

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ragforge.records import dataclass
from ragforge.show.console import open_console, sanitise
from ragforge.show.themes import is_for_reader

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
