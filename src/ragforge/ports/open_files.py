"""Open files: the files of a project as an editor has them, saved or not."""

from __future__ import annotations

from typing import Protocol


class OpenFiles(Protocol):
    """An editor that shows and changes files while the agent works."""

    async def read(self, path: str) -> str | None:
        """Return the text of a file, by its absolute path, with what is not saved yet.

        None if the editor does not give it: then the disk has it.
        """

    async def write(self, path: str, text: str) -> None:
        """Have the editor show and save a text. Whether it did is seen on the disk."""
