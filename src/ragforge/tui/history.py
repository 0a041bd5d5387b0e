"""History: what was typed before, readable by its owner only and without secrets."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from prompt_toolkit.history import FileHistory, History, InMemoryHistory


class InputHistory(FileHistory):
    """The lines of all terminals in one file; a secret is recalled in its own terminal only."""

    def __init__(self, file: Path, redact: Callable[[str], str]) -> None:
        super().__init__(str(file))
        self._redact = redact

    def store_string(self, string: str) -> None:
        with suppress(OSError):  # a full disk costs the history, not the session
            super().store_string(self._redact(string))


def open_history(folder: Path, redact: Callable[[str], str]) -> History:
    """Return the history in a folder, or one that lasts as long as the terminal.

    What is written to the file is redacted first.
    """
    file = folder / "history"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.close(os.open(file, os.O_CREAT | os.O_APPEND | os.O_RDWR, 0o600))
        file.chmod(0o600)
    except OSError:
        return InMemoryHistory()
    return InputHistory(file, redact)
