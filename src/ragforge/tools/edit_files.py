"""write_file and edit_file: a whole file, or part of one, found by its text or by its lines."""

from __future__ import annotations

import asyncio
from functools import partial

from pydantic import Field

from ragforge.errors import InputError
from ragforge.llm.calls import Tool
from ragforge.ports.open_files import OpenFiles
from ragforge.records import dataclass
from ragforge.tools.confine import Root
from ragforge.tools.edits.change import (
    MAX_BYTES,
    EditableText,
    FileEdit,
    Journal,
    apply_change,
    read_bytes,
    resolve_target,
)
from ragforge.tools.permission import PermissionRequest, Permit
from ragforge.tools.tool import Arguments, as_tool
from ragforge.tools.workspace import Workspace

SHOWN = 5


class EditArguments(Arguments):
    """What edit_file is called with."""

    path: str = Field(min_length=1, description="File, relative to the project")
    old_text: str | None = Field(
        None, min_length=1, description="The text to replace, exactly, with its indentation"
    )
    new_text: str = Field(max_length=MAX_BYTES, description="The new text")
    replace_all: bool = Field(False, description="Whether to replace every occurrence of old_text")
    start_line: int | None = Field(None, ge=1, description="First line, if lines are meant")
    end_line: int | None = Field(None, ge=1, description="Last line; without it, only the first")


def make_edit_tool(editor: Editor) -> Tool:
    """Return edit_file for a model."""
    return as_tool("edit_file", EditArguments, partial(edit_file, editor), modifies_files=True)


async def edit_file(editor: Editor, given: EditArguments) -> FileEdit:
    """Change part of a file. Raises Declined, OutsideProject, or InputError that says why not."""
    place = await asyncio.to_thread(resolve_target, editor.workspace.root, given.path)
    before = await editor.read(place)
    return await editor.make(await asyncio.to_thread(_plan_edit, place, before, given))


def _plan_edit(place: str, before: bytes | None, given: EditArguments) -> FileEdit:
    if before is None:
        raise InputError(f"There is no file {place!r}. write_file creates one.")
    text = EditableText.of(place, before)
    after = text.with_content(replace_part(text.content, given)).to_bytes()
    if after == before:
        raise InputError("Nothing to change: new_text equals the old text.")
    return FileEdit(place, before, after)


def replace_part(content: str, given: EditArguments) -> str:
    """Return the content with the part replaced.

    With lines and a text, the text is searched in these lines only. Raises InputError if
    the part is missing, or occurs more than once.
    """
    if given.start_line is None and given.end_line is not None:
        raise InputError("end_line needs a start_line.")
    if given.start_line is None:
        if given.old_text is None:
            raise InputError("Give old_text, or start_line and end_line.")
        return _replace_text(content, given.old_text, given, 1)
    lines = content.splitlines(keepends=True)
    first, last = given.start_line, given.end_line or given.start_line
    if last < first or first > len(lines) + 1 or last > max(len(lines), first):
        raise InputError(f"There are no lines {first} to {last}: the file has {len(lines)}.")
    head, part, tail = "".join(lines[: first - 1]), lines[first - 1 : last], "".join(lines[last:])
    if given.old_text is not None:
        return head + _replace_text("".join(part), given.old_text, given, first) + tail
    new = given.new_text
    ends = not part or part[-1].endswith("\n")
    if new and not new.endswith("\n") and (tail or ends):
        new += "\n"
    if head and not head.endswith("\n"):
        head += "\n"
    return head + new + tail


def _replace_text(content: str, old: str, given: EditArguments, first_line: int) -> str:
    old, new = old.replace("\r\n", "\n"), given.new_text.replace("\r\n", "\n")
    if "\r\n" in content:  # ends of both kinds: what was given is taken as it is
        old, new = given.old_text or old, given.new_text
    count = content.count(old)
    if count == 0:
        raise InputError(f"old_text is not in the file.{_suggest_lines(content, old)}")
    if count > 1 and not given.replace_all:
        places = ", ".join(map(str, _find_lines(content, old, first_line)[:SHOWN]))
        raise InputError(
            f"old_text occurs {count} times, in lines {places}{'…' * (count > SHOWN)}. "
            "Give more of the text around it, or the lines, or set replace_all."
        )
    return content.replace(old, new)


def _find_lines(content: str, old: str, first_line: int) -> list[int]:
    found, at = [], content.find(old)
    while at >= 0:
        found.append(content.count("\n", 0, at) + first_line)
        at = content.find(old, at + len(old))
    return found


def _suggest_lines(content: str, old: str) -> str:
    """Return a sentence that names the same text with other white space, if there is one."""
    wanted = [line.strip() for line in old.strip().splitlines()]
    have = [line.strip() for line in content.splitlines()]
    for at in range(len(have) - len(wanted) + 1):
        if have[at : at + len(wanted)] == wanted:
            return (
                f" Lines {at + 1} to {at + len(wanted)} differ from it only in white space: "
                "copy them exactly."
            )
    return " Read the file again."


class WriteArguments(Arguments):
    """What write_file is called with."""

    path: str = Field(min_length=1, description="File, relative to the project")
    content: str = Field(max_length=MAX_BYTES, description="The new content of the file")


def make_write_tool(editor: Editor) -> Tool:
    """Return write_file for a model."""
    return as_tool("write_file", WriteArguments, partial(write_file, editor), modifies_files=True)


async def write_file(editor: Editor, given: WriteArguments) -> FileEdit:
    """Write a file. Raises Declined, OutsideProject, or InputError that says why not."""
    place = await asyncio.to_thread(resolve_target, editor.workspace.root, given.path)
    before = await editor.read(place)
    return await editor.make(await asyncio.to_thread(_plan_write, place, before, given))


def _plan_write(place: str, before: bytes | None, given: WriteArguments) -> FileEdit:
    old = EditableText("") if before is None else EditableText.of(place, before)
    after = old.with_content(given.content).to_bytes()
    if after == before:
        raise InputError(f"{place!r} has exactly this content already.")
    return FileEdit(place, before, after)


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
