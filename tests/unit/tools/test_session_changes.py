"""All changes of a session and their undo: byte for byte, or not at all."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ragforge.app.features.session_edits import list_session_changes, rewind_files
from ragforge.errors import InputError
from ragforge.tools.confine import Root
from ragforge.tools.edits.change import FileEdit, Journal

CRLF = b"\xff\xfea\x00\r\x00\n\x00"


@pytest.fixture
def root(tmp_path: Path) -> Root:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "odd.txt").write_bytes(CRLF)
    return Root.at(folder)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "state" / "edits" / "one")


def edit(journal: Journal, root: Root, path: str, after: bytes | None) -> None:
    file = Path(root.full(path))
    before = file.read_bytes() if file.exists() else None
    journal.make(root, FileEdit(path, before, after))


def test_several_edits_are_one_change_and_a_rewind_is_exact(root: Root, journal: Journal) -> None:
    odd, new = Path(root.full("odd.txt")), Path(root.full("deep/new.txt"))
    edit(journal, root, "odd.txt", b"first\n")
    middle = time.time_ns()
    edit(journal, root, "odd.txt", b"second\n")
    edit(journal, root, "deep/new.txt", b"made\n")

    found = list_session_changes(journal, root)
    assert [(one.change.path, one.is_mixed) for one in found] == [
        ("deep/new.txt", False),
        ("odd.txt", False),
    ]
    assert found[1].change == FileEdit("odd.txt", CRLF, b"second\n")
    rewind_files(journal, root, middle)
    assert odd.read_bytes() == b"first\n"
    assert not new.exists()
    rewind_files(journal, root, 0)
    assert odd.read_bytes() == CRLF
    assert list_session_changes(journal, root) == []


def test_a_rewind_can_be_undone(root: Root, journal: Journal) -> None:
    edit(journal, root, "odd.txt", b"first\n")
    rewind_files(journal, root, 0)
    journal.undo(root)
    assert Path(root.full("odd.txt")).read_bytes() == b"first\n"


@pytest.mark.parametrize("when", ["after", "between"])
def test_a_file_that_someone_else_changed_is_left_and_so_are_the_others(
    root: Root, journal: Journal, when: str
) -> None:
    odd, other = Path(root.full("odd.txt")), Path(root.full("other.txt"))
    edit(journal, root, "other.txt", b"ours\n")
    edit(journal, root, "odd.txt", b"first\n")
    odd.write_bytes(b"theirs\n")
    if when == "between":
        edit(journal, root, "odd.txt", b"theirs and ours\n")
    now = odd.read_bytes()
    assert [one.is_mixed for one in list_session_changes(journal, root)] == [True, False]
    with pytest.raises(InputError, match=r"Another program has changed 'odd.txt' since"):
        rewind_files(journal, root, 0)
    assert odd.read_bytes() == now
    assert other.read_bytes() == b"ours\n"


def test_an_edit_whose_process_was_killed_is_not_a_change(root: Root, journal: Journal) -> None:
    journal._keep(root, FileEdit("odd.txt", CRLF, b"never written\n"))
    edit(journal, root, "odd.txt", b"first\n")
    [one] = list_session_changes(journal, root)
    assert (one.change.before, one.is_mixed) == (CRLF, False)
    journal.undo(root)
    assert list_session_changes(journal, root) == []
