"""Edits: exact, refused where they are ambiguous, and undone byte for byte."""

from __future__ import annotations

import os
import stat
from codecs import BOM_UTF8, BOM_UTF16_LE
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragforge.errors import Declined, InputError, OutsideProject
from ragforge.tools.confine import Root
from ragforge.tools.edit_files import (
    EditArguments,
    Editor,
    WriteArguments,
    edit_file,
    replace_part,
    write_file,
)
from ragforge.tools.edits import change as journals
from ragforge.tools.edits.change import EditableText, FileEdit, Journal
from ragforge.tools.permission import PermissionRequest
from ragforge.tools.workspace import Workspace

LINES = "one\ntwo\nthree\ntwo\n"


async def yes(wish: PermissionRequest) -> None:
    """Grant everything."""


async def no(wish: PermissionRequest) -> None:
    raise Declined("The user declined this.")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def editor(place: Path, tmp_path: Path) -> Editor:
    return Editor(Workspace.at(place), Journal.of(tmp_path / "state", "session"), yes)


def edit(content: str, **given: Any) -> str:
    return replace_part(content, EditArguments(path="x", **given))


def test_a_text_that_occurs_once_is_replaced() -> None:
    assert edit(LINES, old_text="three\n", new_text="3\n") == "one\ntwo\n3\ntwo\n"


def test_a_text_that_occurs_twice_is_refused_with_its_lines() -> None:
    with pytest.raises(InputError, match=r"2 times, in lines 2, 4"):
        edit(LINES, old_text="two", new_text="2")

    assert edit(LINES, old_text="two", new_text="2", replace_all=True) == "one\n2\nthree\n2\n"
    assert edit(LINES, old_text="two", new_text="2", start_line=4) == "one\ntwo\nthree\n2\n"


def test_a_text_that_differs_only_in_white_space_is_pointed_at() -> None:
    with pytest.raises(InputError, match="Lines 2 to 3 differ from it only in white space"):
        edit("if x:\n    a = 1\n    b = 2\n", old_text="a = 1\nb = 2", new_text="")
    with pytest.raises(InputError, match="Read the file again"):
        edit(LINES, old_text="four", new_text="4")


@pytest.mark.parametrize(
    ("given", "after"),
    [
        ({"start_line": 2, "end_line": 3, "new_text": "x"}, "one\nx\ntwo\n"),
        ({"start_line": 1, "new_text": "x\ny\n"}, "x\ny\ntwo\nthree\ntwo\n"),
        ({"start_line": 2, "new_text": ""}, "one\nthree\ntwo\n"),
        ({"start_line": 5, "new_text": "five"}, "one\ntwo\nthree\ntwo\nfive\n"),
    ],
)
def test_lines_are_replaced_removed_and_added(given: dict[str, Any], after: str) -> None:
    assert edit(LINES, **given) == after


@pytest.mark.parametrize(
    "given",
    [
        {"new_text": "x"},
        {"new_text": "x", "end_line": 2},
        {"new_text": "x", "start_line": 3, "end_line": 2},
        {"new_text": "x", "start_line": 6},
        {"new_text": "x", "start_line": 1, "end_line": 9},
    ],
)
def test_a_part_that_is_not_there_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        edit(LINES, **given)


@pytest.mark.parametrize(
    "data",
    [
        b"a\r\nb\r\n",
        b"a\nb\r\nc",
        BOM_UTF8 + b"a\n",
        BOM_UTF16_LE + "a\r\nb".encode("utf-16-le"),
        "caf\xe9\n".encode("latin-1"),
        b"",
        b"a\rb",
    ],
)
def test_what_is_not_changed_is_written_back_byte_for_byte(data: bytes) -> None:
    assert EditableText.of("x", data).to_bytes() == data


@given(st.binary(max_size=60).filter(lambda data: b"\0" not in data))
def test_any_text_is_written_back_byte_for_byte(data: bytes) -> None:
    try:
        text = EditableText.of("x", data)
    except (InputError, UnicodeDecodeError):
        return  # half a letter of UTF-16
    assert text.to_bytes() == data


async def test_line_ends_and_permissions_stay_as_they_were(place: Path, editor: Editor) -> None:
    file = place / "run.sh"
    file.write_bytes(b"echo a\r\necho b\r\n")
    file.chmod(0o754)

    await edit_file(
        editor, EditArguments(path="run.sh", old_text="echo b\n", new_text="echo c\necho d\n")
    )

    assert file.read_bytes() == b"echo a\r\necho c\r\necho d\r\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o754
    assert os.listdir(place) == ["run.sh"]


async def test_a_new_file_is_made_with_its_directories_and_unmade(
    place: Path, editor: Editor
) -> None:
    made = await write_file(editor, WriteArguments(path="a/b/new.py", content="x = 1\n"))

    assert (place / "a/b/new.py").read_text() == "x = 1\n"
    assert made.to_json()["created"]
    assert made.to_json()["added"] == 1

    editor.journal.undo(editor.workspace.root)
    assert not (place / "a/b/new.py").exists()


async def test_edits_are_undone_in_reverse_order(place: Path, editor: Editor) -> None:
    file = place / "x.txt"
    file.write_text("0")
    for number in "123":
        await write_file(editor, WriteArguments(path="x.txt", content=number))

    for number in "210":
        editor.journal.undo(editor.workspace.root)
        assert file.read_text() == number
    with pytest.raises(InputError, match="nothing to undo"):
        editor.journal.undo(editor.workspace.root)


async def test_a_file_that_was_changed_since_is_not_undone(place: Path, editor: Editor) -> None:
    await write_file(editor, WriteArguments(path="x.txt", content="ours"))
    (place / "x.txt").write_text("theirs")

    with pytest.raises(InputError, match="has changed since"):
        editor.journal.undo(editor.workspace.root)
    assert (place / "x.txt").read_text() == "theirs"


async def test_an_edit_that_was_kept_but_never_made_is_passed_over(
    place: Path, editor: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write_file(editor, WriteArguments(path="x.txt", content="1"))

    def die(root: Root, change: FileEdit) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(journals, "apply_change", die)
        with pytest.raises(KeyboardInterrupt):
            editor.journal.make(editor.workspace.root, FileEdit("x.txt", b"1", b"2"))

    assert editor.journal.undo(editor.workspace.root).path == "x.txt"
    assert not (place / "x.txt").exists()


async def test_a_file_that_changes_while_the_user_decides_is_left_alone(
    place: Path, tmp_path: Path
) -> None:
    file = place / "x.txt"
    file.write_text("old")

    async def change_meanwhile(wish: PermissionRequest) -> None:
        file.write_text("theirs")

    editor = Editor(Workspace.at(place), Journal.of(tmp_path / "s", "c"), change_meanwhile)
    with pytest.raises(InputError, match="changed in the meantime"):
        await write_file(editor, WriteArguments(path="x.txt", content="new"))

    assert file.read_text() == "theirs"
    with pytest.raises(InputError, match="nothing to undo"):
        editor.journal.undo(editor.workspace.root)


async def test_what_is_declined_is_not_done(place: Path, tmp_path: Path) -> None:
    editor = Editor(Workspace.at(place), Journal.of(tmp_path / "s", "c"), no)
    with pytest.raises(Declined):
        await write_file(editor, WriteArguments(path="x.txt", content="new"))
    assert os.listdir(place) == []


async def test_nothing_outside_the_project_or_of_git_is_written(
    place: Path, editor: Editor
) -> None:
    outside = place.parent / "outside"
    outside.mkdir()
    (place / "link").symlink_to(outside)
    (place / ".git").mkdir()
    os.mkfifo(place / "pipe")
    for path in ("../x", "/etc/x", "link/x"):
        with pytest.raises(OutsideProject):
            await write_file(editor, WriteArguments(path=path, content="x"))
    for path in (".git/hooks/pre-commit", ".GIT/config", "sub/.git/config", "pipe", ".", "link/.."):
        with pytest.raises(InputError):
            await write_file(editor, WriteArguments(path=path, content="x"))
    assert os.listdir(outside) == []


async def test_what_is_kept_for_undoing_is_only_for_the_user(place: Path, editor: Editor) -> None:
    await write_file(editor, WriteArguments(path="x.txt", content="1"))
    [kept] = editor.journal.folder.iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(editor.journal.folder.stat().st_mode) == 0o700


async def test_binary_files_and_letters_that_an_encoding_lacks_are_refused(
    place: Path, editor: Editor
) -> None:
    (place / "image").write_bytes(b"\0\1\2")
    (place / "old.txt").write_bytes(b"caf\xe9")
    with pytest.raises(InputError, match="binary"):
        await write_file(editor, WriteArguments(path="image", content="x"))
    with pytest.raises(InputError, match="latin-1"):
        await edit_file(editor, EditArguments(path="old.txt", old_text="caf", new_text="雪"))
    assert (place / "old.txt").read_bytes() == b"caf\xe9"
