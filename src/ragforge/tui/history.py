"""History: what was typed before, readable by its owner only and without secrets."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from ragforge.private_files import create_private_file, make_private_folder


class InputHistory(FileHistory):
    """The lines of all terminals in one file; a secret is recalled in its own terminal only."""

    def __init__(self, file: Path, redact: Callable[[str], str]) -> None:
        super().__init__(str(file))
        self._file = file
        self._redact = redact

    def store_string(self, string: str) -> None:
        with suppress(OSError):  # a full disk costs the history, not the session
            create_private_file(self._file)  # it may have been removed meanwhile
            super().store_string(self._redact(string))


def open_history(folder: Path, redact: Callable[[str], str]) -> History:
    """Return the history in a folder, or one that lasts as long as the terminal.

    What is written to the file is redacted first.
    """
    file = folder / "history"
    try:
        make_private_folder(folder)
        create_private_file(file)
        with file.open("a"):  # it can be written
            pass
    except OSError:
        return InMemoryHistory()
    return InputHistory(file, redact)
