"""The screen: where everything is printed for good, with the signs it can show."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from rich.console import Console
from rich.text import Text

from ragforge.show.console import colours_wanted, printable


@dataclass(frozen=True, slots=True)
class Signs:
    """Small pictures."""

    done: str = "✓"
    failed: str = "✗"
    open: str = "☐"
    now: str = "▸"
    prompt: str = "❯"
    dot: str = "·"
    bar: str = "│"
    spinner: tuple[str, ...] = tuple("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")


ASCII = Signs("+", "x", "[ ]", ">", ">", "-", "|", tuple("|/-\\"))


def signs_for(encoding: str | None) -> Signs:
    """Return the signs that an encoding has."""
    try:
        "✓✗☐▸❯·│⠋".encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return Signs()


def open_console() -> Console:
    """Return the console of the terminal; long lines are wrapped at words."""
    return Console(
        color_system="auto" if colours_wanted() else None,
        markup=False,
        highlight=False,
        emoji=False,
    )


@dataclass(frozen=True, slots=True)
class Screen:
    """The terminal's lines. What is printed stays in its scrollback."""

    out: Console = field(default_factory=open_console)
    signs: Signs = field(default_factory=lambda: signs_for(sys.stdout.encoding))

    @property
    def is_lively(self) -> bool:
        """Whether lines can be drawn again."""
        return self.out.is_terminal and not self.out.is_dumb_terminal

    def say(self, text: str = "", style: str = "") -> None:
        self.out.print(Text(printable(text), style=style))

    def note(self, text: str) -> None:
        """Tell how things go, out of the way."""
        self.say(text, "dim")

    def problem(self, text: str) -> None:
        """Tell what went wrong."""
        self.say(text, "red")
