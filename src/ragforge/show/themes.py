"""Themes: colours that can be read on a dark and on a light background, or no need for them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragforge.records import dataclass

if TYPE_CHECKING:
    from rich.text import Text


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of code, and of lines that a change adds and takes away."""

    code: str
    added: str
    removed: str


# Each background sets the colour of its text: a terminal may differ from what it reports.
DARK = Theme("ansi_dark", "color(252) on color(22)", "color(252) on color(52)")
LIGHT = Theme("ansi_light", "color(235) on color(194)", "color(235) on color(224)")
LIGHT_NUMBERS = (7, 15)
"""The light backgrounds, as a terminal names them in COLORFGBG."""


class _Chosen:
    """How this process shows things; a command of the terminal changes it for all later ones."""

    name = "auto"
    is_plain = False


def use_theme(name: str) -> None:
    """Use the dark or the light theme from now on; auto: as the terminal reports."""
    _Chosen.name = name


def use_plain(wanted: bool) -> None:
    """Show everything so that a screen reader can read it, or as usual, from now on."""
    _Chosen.is_plain = wanted


def is_for_reader() -> bool:
    """Tell whether a screen reader reads: words, not symbols or colours, and nothing is redrawn."""
    return _Chosen.is_plain


def get_theme() -> Theme:
    """Return the theme in use; a terminal that does not name its background counts as dark."""
    if (name := _Chosen.name) != "auto":
        return LIGHT if name == "light" else DARK
    last = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT if last.isdecimal() and int(last) in LIGHT_NUMBERS else DARK


def colour_lines(lines: Sequence[str], path: str) -> list[Text]:
    """Return lines of code with the colours of their language."""
    from rich.syntax import Syntax  # slow to load
    from rich.text import Text

    code = "\n".join(lines)
    syntax = Syntax(code, Syntax.guess_lexer(path, code), theme=get_theme().code)
    coloured = list(syntax.highlight(code).split("\n", allow_blank=True))[: len(lines)]
    return coloured + [Text()] * (len(lines) - len(coloured))
