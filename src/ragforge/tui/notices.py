"""Notices: a bell or a message of the desktop for a user who looks at something else."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ragforge.show.console import fit_line

if TYPE_CHECKING:
    from ragforge.config.settings import TerminalSettings
    from ragforge.show.screen import Screen

BELL = "\a"
DESKTOP = "\x1b]9;{}\a"
"""What iTerm2, Ghostty, WezTerm, kitty and ConEmu show as a message; others ignore it."""
NOTICE_CHARS = 100


class Notices:
    """Tells the user what happened in a turn that took long."""

    def __init__(self, settings: TerminalSettings, screen: Screen) -> None:
        self._settings = settings
        self._screen = screen
        self._began = time.monotonic()

    def tell(self, text: str) -> None:
        """Ring or show a text, as the settings say, if the turn has taken that long."""
        took = time.monotonic() - self._began
        if took < self._settings.notify_seconds or not self._screen.can_redraw:
            return
        signs = {"bell": BELL, "desktop": DESKTOP.format(fit_line(text, NOTICE_CHARS))}
        out = self._screen.out.file
        out.write(signs.get(self._settings.notify, ""))
        out.flush()
