"""write_file: a whole file, new or in place of what is there."""

from __future__ import annotations

import asyncio

from pydantic import Field

from ragforge.errors import InputError
from ragforge.llm.calls import Tool
from ragforge.tools.edits.change import MAX_BYTES, EditableText, FileEdit, resolve_target
from ragforge.tools.edits.editor import Editor
from ragforge.tools.tool import Arguments, as_tool

NAME = "write_file"


class WriteArguments(Arguments):
    """What write_file is called with."""

    path: str = Field(min_length=1, description="File, relative to the project")
    content: str = Field(max_length=MAX_BYTES, description="The new content of the file")


def make_write_tool(editor: Editor) -> Tool:
    """Return write_file for a model."""

    async def call(given: WriteArguments) -> FileEdit:
        return await write_file(editor, given)

    return as_tool(NAME, WriteArguments, call, modifies_files=True)


async def write_file(editor: Editor, given: WriteArguments) -> FileEdit:
    """Write a file. Raises Declined, OutsideProject, or InputError that says why not."""
    place = await asyncio.to_thread(resolve_target, editor.workspace.root, given.path)
    before = await editor.read(place)
    return await editor.make(await asyncio.to_thread(_change, place, before, given))


def _change(place: str, before: bytes | None, given: WriteArguments) -> FileEdit:
    old = EditableText("") if before is None else EditableText.of(place, before)
    after = old.with_content(given.content).to_bytes()
    if after == before:
        raise InputError(f"{place!r} has exactly this content already.")
    return FileEdit(place, before, after)
