"""Editor: show a change, ask for permission, journal it and apply it, in this order."""

from __future__ import annotations

import asyncio

from ragforge.errors import InputError
from ragforge.ports.open_files import OpenFiles
from ragforge.records import dataclass
from ragforge.tools.confine import Root
from ragforge.tools.edits.change import EditableText, FileEdit, apply_change, read_bytes
from ragforge.tools.edits.journal import Journal
from ragforge.tools.permission import PermissionRequest, Permit
from ragforge.tools.workspace import Workspace

EVERYTHING = "**"

_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class Editor:
    """Changes files of one project for one conversation."""

    workspace: Workspace
    journal: Journal
    require_permission: Permit
    files: OpenFiles | None = None  # of the user's editor, if there is one

    async def read(self, place: str) -> bytes | None:
        """Return a file's bytes, with what is not saved yet; None if there is none."""
        root = self.workspace.root
        saved = await asyncio.to_thread(read_bytes, root, place)
        if saved is None or self.files is None:
            return saved
        text = await self.files.read(f"{root.path}/{place}")
        return saved if text is None else merge_unsaved(place, saved, text)

    async def make(self, change: FileEdit) -> FileEdit:
        """Make a change if it is allowed; return it as it was made.

        Raises Declined, or InputError.
        """
        preview = await asyncio.to_thread(lambda: change.whole_diff)
        await self.require_permission(
            PermissionRequest("edit_file", change.path, preview, (change.path, EVERYTHING))
        )
        root = self.workspace.root
        if self.files is None or change.before is None:
            return await asyncio.to_thread(self.journal.make, root, change)
        if await self.read(change.path) != change.before:
            raise InputError(f"{change.path!r} has changed in the meantime. Read it again.")
        return await self._write_in_editor(self.files, change)

    async def _write_in_editor(self, files: OpenFiles, change: FileEdit) -> FileEdit:
        """Have the user's editor write a change, so that it shows it; else write it here."""
        loop = asyncio.get_running_loop()

        def write(root: Root, change: FileEdit) -> None:
            saved = read_bytes(root, change.path)
            text = EditableText.of(change.path, change.after or b"").content
            writing = files.write(f"{root.path}/{change.path}", text)
            asyncio.run_coroutine_threadsafe(writing, loop).result()
            if read_bytes(root, change.path) == saved:  # the editor did not save it
                apply_change(root, FileEdit(change.path, saved, change.after))

        return await asyncio.to_thread(self.journal.make, self.workspace.root, change, write)


def merge_unsaved(path: str, saved: bytes, text: str) -> bytes:
    """Return the bytes of a file with the text of an editor, encoded as the saved one is.

    Editors differ in line ends, marks and the last line's end: those stay as they are saved.
    What is not UTF-8, an editor may have misread: that stays as it is saved, too.
    """
    try:
        kept = EditableText.of(path, saved)
    except InputError:  # it is binary
        return saved
    if kept.encoding != "utf-8":
        return saved
    content = text.removeprefix(_MARK)
    if kept.crlf or "\r\n" not in kept.content:
        content = content.replace("\r\n", "\n")
    if kept.content.endswith("\n") and content and not content.endswith("\n"):
        content += "\n"
    return kept.with_content(content).to_bytes()
