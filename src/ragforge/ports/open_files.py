"""Open files: the files of a project as an editor shows them, saved or not."""

from __future__ import annotations

from typing import Protocol


class OpenFiles(Protocol):
    """An editor that shows and changes files while the agent works."""

    async def read(self, path: str) -> str | None:
        """Return the text of a file, by its absolute path, with unsaved changes.

        None if the editor does not give it: then the disk has it.
        """

    async def write(self, path: str, text: str) -> None:
        """Let the editor show and save a text. Check the disk to see whether it did."""
