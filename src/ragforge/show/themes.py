"""Themes: colours that can be read on a dark and on a light background."""

from __future__ import annotations

import os
from contextvars import ContextVar

from ragforge.records import dataclass


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of code, and of lines that a change adds and takes away."""

    code: str
    added: str
    removed: str


# Each background has its own colour of letters: a terminal may be other than it says.
DARK = Theme("ansi_dark", "color(252) on color(22)", "color(252) on color(52)")
LIGHT = Theme("ansi_light", "color(235) on color(194)", "color(235) on color(224)")
LIGHT_NUMBERS = (7, 15)
"""The light backgrounds, as a terminal names them in COLORFGBG."""

_chosen = ContextVar("theme", default="auto")


def use_theme(name: str) -> None:
    """Use the dark or the light theme from now on; auto: as the terminal says."""
    _chosen.set(name)


def get_theme() -> Theme:
    """Return the theme that is used; a terminal that says nothing of itself is taken for dark."""
    if (name := _chosen.get()) != "auto":
        return LIGHT if name == "light" else DARK
    last = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT if last.isdecimal() and int(last) in LIGHT_NUMBERS else DARK
