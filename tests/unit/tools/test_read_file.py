"""read_file: pages of text, and clear refusals."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ragforge.errors import InputError, OutsideProject
from ragforge.tools.read_file import FileText, ReadArguments, read_file
from ragforge.tools.workspace import Workspace
from tests.unit.tools.conftest import write


@pytest.fixture
def workspace(root: Path) -> Workspace:
    return Workspace.at(root)


async def read(workspace: Workspace, path: str, **more: Any) -> FileText:
    return await read_file(workspace, ReadArguments(path=path, **more), seconds=60)


async def test_a_small_file_comes_whole(workspace: Workspace) -> None:
    assert await read(workspace, "src/deep/models.py") == FileText(
        "src/deep/models.py", "class User:\n    user_name = None", 1, 2, 2, False
    )


async def test_lines_can_be_chosen_and_numbered(workspace: Workspace) -> None:
    found = await read(workspace, "src/auth.py", start_line=4, end_line=5, line_numbers=True)

    lines = ["4\tdef authenticate(user, password):", "5\t    return user.password == password"]
    assert found.content.split("\n") == lines
    assert (found.start_line, found.end_line, found.total_lines) == (4, 5, 9)
    assert not found.truncated


async def test_lines_after_the_end_do_not_count(workspace: Workspace) -> None:
    found = await read(workspace, "src/auth.py", start_line=50)

    assert (found.content, found.start_line, found.end_line) == ("", 50, 49)
    assert found.total_lines == 9


async def test_an_end_before_the_start_is_a_clear_error(workspace: Workspace) -> None:
    with pytest.raises(InputError, match="end_line 2 is before start_line 3"):
        await read(workspace, "src/auth.py", start_line=3, end_line=2)


async def test_a_long_file_comes_in_pages(workspace: Workspace, root: Path) -> None:
    write(root, {"long.txt": "".join(f"line {number}\n" for number in range(1, 5001))})

    first = await read(workspace, "long.txt")
    last = await read(workspace, "long.txt", start_line=4001)

    assert (first.start_line, first.end_line, first.truncated) == (1, 2000, True)
    assert (last.start_line, last.end_line, last.truncated) == (4001, 5000, False)
    assert first.total_lines == last.total_lines == 5000


async def test_a_page_has_a_bounded_number_of_characters(workspace: Workspace, root: Path) -> None:
    write(root, {"wide.txt": ("x" * 1_500 + "\n") * 500, "line.txt": "y" * 50_000})

    wide, line = await read(workspace, "wide.txt"), await read(workspace, "line.txt")

    assert wide.truncated
    assert len(wide.content) <= 100_000
    assert line.truncated
    assert len(line.content) <= 2_001


@pytest.mark.parametrize(
    "data", ["é\r\nb\r\n".encode(), "é\nb".encode("utf-16"), "\ufeffé\nb\n".encode(), b"\xe9\nb"]
)
async def test_encodings_and_line_ends_make_no_difference(
    workspace: Workspace, root: Path, data: bytes
) -> None:
    write(root, {"a.txt": data})

    assert (await read(workspace, "a.txt")).content == "é\nb"


async def test_an_empty_file_has_no_lines(workspace: Workspace, root: Path) -> None:
    write(root, {"a.txt": ""})

    assert await read(workspace, "a.txt") == FileText("a.txt", "", 1, 0, 0, False)


async def test_a_link_within_is_read_under_its_own_name(workspace: Workspace, root: Path) -> None:
    (root / "link.py").symlink_to("src/deep/models.py")

    assert (await read(workspace, "link.py")).file == "src/deep/models.py"


async def test_a_link_out_is_refused(workspace: Workspace, root: Path) -> None:
    (root / "link").symlink_to("/etc/passwd")

    with pytest.raises(OutsideProject):
        await read(workspace, "link")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("nothing.py", "there is no such file"),
        ("src/nothing/x.py", "there is no such file"),
        ("src", "it is a directory"),
        (".", "it is a directory"),
        ("secret.env", "it is left out: ignored"),
        ("node_modules/a.js", "it is left out: vendored"),
        (".git/config", "it is left out: version control"),
        ("pipe", "it is left out: special"),
        ("data.bin", "it is binary"),
        ("picture.png", "it is binary"),
    ],
)
async def test_a_refusal_says_why(workspace: Workspace, root: Path, path: str, why: str) -> None:
    write(root, {".gitignore": "*.env\n", "secret.env": "KEY=1", "node_modules/a.js": "x"})
    write(root, {".git/config": "x", "data.bin": b"\0\1", "picture.png": b"\x89PNG\0"})
    os.mkfifo(root / "pipe")

    with pytest.raises(InputError, match=why):
        await read(workspace, path)


async def test_a_file_that_no_search_looks_into_can_be_read(
    workspace: Workspace, root: Path
) -> None:
    write(root, {"package-lock.json": "{}"})

    assert (await read(workspace, "package-lock.json")).content == "{}"
