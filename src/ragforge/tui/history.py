"""History: what was typed before, for its owner's eyes and without secrets."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from prompt_toolkit.history import FileHistory, History, InMemoryHistory


class InputHistory(FileHistory):
    """Lines of all terminals in one file. Who typed a secret has it back in this terminal only."""

    def store_string(self, string: str) -> None:
        from ragforge.memory.secrets.redact import redact

        with suppress(OSError):  # a full disk costs the history, not the session
            super().store_string(redact(string))


def open_history(folder: Path) -> History:
    """Return the history in a folder, or one that lasts as long as the terminal."""
    file = folder / "history"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.close(os.open(file, os.O_CREAT | os.O_APPEND | os.O_RDWR, 0o600))
        file.chmod(0o600)
    except OSError:
        return InMemoryHistory()
    return InputHistory(str(file))
