"""Unsaved text of an editor: read, edited, kept and brought back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ragforge.errors import InputError
from ragforge.tools.edit_files import EditArguments, Editor, edit_file, merge_unsaved
from ragforge.tools.edits.change import Journal
from ragforge.tools.permission import PermissionRequest
from ragforge.tools.read_file import ReadArguments, read_file
from ragforge.tools.workspace import Workspace


async def yes(request: PermissionRequest) -> None:
    """Grant everything."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def editor(place: Path, tmp_path: Path) -> Editor:
    return Editor(Workspace.at(place), Journal.of(tmp_path / "state", "session"), yes)


class FakeFiles:
    """An editor with one unsaved text, which saves what it is given unless it is `broken`."""

    def __init__(self, place: Path, text: str | None, broken: bool = False) -> None:
        self.place = place
        self.text = text
        self.broken = broken

    async def read(self, path: str) -> str | None:
        return self.text

    async def write(self, path: str, text: str) -> None:
        if not self.broken:
            self.text = text
            Path(path).write_text(text)


@pytest.mark.parametrize("broken", [False, True])
async def test_an_edit_of_unsaved_text_keeps_it_and_undo_brings_it_back(
    place: Path, editor: Editor, broken: bool
) -> None:
    (place / "x.txt").write_text("one\ntwo\n")
    editor = replace(editor, files=FakeFiles(place, "one\ntwo, typed", broken))
    made = await edit_file(editor, EditArguments(path="x.txt", old_text="one", new_text="1"))
    assert (made.before, made.after) == (b"one\ntwo, typed\n", b"1\ntwo, typed\n")
    assert (place / "x.txt").read_text() == "1\ntwo, typed\n"
    editor.journal.undo(editor.workspace.root)
    assert (place / "x.txt").read_text() == "one\ntwo, typed\n"


async def test_what_an_editor_formats_while_it_saves_is_the_edit_and_can_be_undone(
    place: Path, editor: Editor
) -> None:
    class Formatting(FakeFiles):
        async def write(self, path: str, text: str) -> None:
            Path(path).write_text(text.upper())

    (place / "x.txt").write_text("one\n")
    editor = replace(editor, files=Formatting(place, None))
    made = await edit_file(editor, EditArguments(path="x.txt", old_text="one", new_text="two"))
    assert made.after == b"TWO\n"
    editor.journal.undo(editor.workspace.root)
    assert (place / "x.txt").read_text() == "one\n"


async def test_what_is_typed_while_permission_is_asked_is_not_overwritten(
    place: Path, tmp_path: Path
) -> None:
    files = FakeFiles(place, "one\n")

    async def type_meanwhile(request: PermissionRequest) -> None:
        files.text = "one, typed\n"

    (place / "x.txt").write_text("one\n")
    journal = Journal.of(tmp_path / "s", "c")
    editor = Editor(Workspace.at(place), journal, type_meanwhile, files)
    with pytest.raises(InputError, match="changed in the meantime"):
        await edit_file(editor, EditArguments(path="x.txt", old_text="one", new_text="two"))
    assert (place / "x.txt").read_text() == "one\n"


@pytest.mark.parametrize(
    ("saved", "text", "merged"),
    [
        (b"a\r\nb\r\n", "a\nc\n", b"a\r\nc\r\n"),
        (b"\xef\xbb\xbfa\n", "\ufeffb\n", b"\xef\xbb\xbfb\n"),
        (b"a\n", "a", b"a\n"),
        (b"a\n", "b\r\n", b"b\n"),
        (b"caf\xe9\n", "caf\ufffd\n", b"caf\xe9\n"),
        (b"\0\1", "x", b"\0\1"),
    ],
)
def test_an_editors_text_keeps_the_encoding_of_the_file(
    saved: bytes, text: str, merged: bytes
) -> None:
    assert merge_unsaved("x.txt", saved, text) == merged


async def test_unsaved_lines_are_read_and_secrets_among_them_are_not(place: Path) -> None:
    (place / "x.txt").write_text("one\n")
    workspace = Workspace.at(place)
    given = ReadArguments(path="x.txt", start_line=2)
    found = await read_file(workspace, given, files=FakeFiles(place, "one\ntwo\nthree\n"))
    assert (found.content, found.end_line, found.total_lines) == ("two\nthree", 3, 3)
    key = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----\n"
    with pytest.raises(InputError, match="secret"):
        await read_file(workspace, given, files=FakeFiles(place, key))


async def test_an_editor_is_not_asked_for_what_may_not_be_read(place: Path) -> None:
    class Asked(FakeFiles):
        async def read(self, path: str) -> str | None:
            raise AssertionError(path)

    (place / ".env").write_text("TOKEN=1\n")
    for path in (".env", "../x.txt", "none.txt"):
        with pytest.raises(InputError):
            await read_file(Workspace.at(place), ReadArguments(path=path), files=Asked(place, None))
