"""list_files and glob_files: what is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ragforge.errors import BadPattern, InputError, OutsideProject
from ragforge.tools.list_files import (
    Entries,
    GlobArguments,
    GlobResult,
    ListArguments,
    glob_files,
    list_files,
)
from ragforge.tools.workspace import Workspace
from tests.unit.tools.conftest import write


@pytest.fixture
def workspace(root: Path) -> Workspace:
    return Workspace.at(root)


async def test_a_directory_is_listed_with_slashes_after_directories(
    workspace: Workspace,
) -> None:
    found = await list_files(workspace, ListArguments())

    assert found == Entries("", ("README.md", "src/"), False, {})


async def test_deeper_levels_follow(workspace: Workspace) -> None:
    found = await list_files(workspace, ListArguments(path="src", depth=2))

    assert found.path == "src"
    assert found.entries == ("src/auth.py", "src/deep/", "src/users.ts", "src/deep/models.py")


async def test_what_is_left_out_is_counted_by_reason(workspace: Workspace, root: Path) -> None:
    write(root, {".gitignore": "*.log\n", "a.log": "x", "node_modules/a.js": "x", "i.png": "x"})
    os.mkfifo(root / "pipe")

    found = await list_files(workspace, ListArguments())

    assert found.entries == (".gitignore", "README.md", "i.png", "src/")
    assert found.left_out == {"ignored": 1, "vendored": 1, "binary": 1, "special": 1}


async def test_too_many_entries_are_cut_off(workspace: Workspace) -> None:
    found = await list_files(workspace, ListArguments(depth=20, max_results=3))

    assert len(found.entries) == 3
    assert found.truncated


@pytest.mark.parametrize(
    ("path", "why"), [("nothing", "no such directory"), ("README.md", "no such directory")]
)
async def test_a_path_that_is_not_a_directory_is_a_clear_error(
    workspace: Workspace, path: str, why: str
) -> None:
    with pytest.raises(InputError, match=why):
        await list_files(workspace, ListArguments(path=path))


async def test_a_directory_outside_is_refused(workspace: Workspace) -> None:
    with pytest.raises(OutsideProject):
        await list_files(workspace, ListArguments(path="../"))


async def test_a_directory_that_is_ignored_is_not_listed(workspace: Workspace, root: Path) -> None:
    write(root, {".gitignore": "out/\n", "out/x/a.py": "x"})

    with pytest.raises(InputError, match="left out: ignored"):
        await list_files(workspace, ListArguments(path="out/x"))


async def test_a_glob_finds_files_by_path(workspace: Workspace) -> None:
    found = await glob_files(workspace, GlobArguments(pattern="**/*.{py,ts}"))

    assert found == GlobResult(("src/auth.py", "src/deep/models.py", "src/users.ts"), 3, False)


async def test_a_glob_also_finds_what_no_search_looks_into(
    workspace: Workspace, root: Path
) -> None:
    write(root, {"a.png": b"\x89PNG", "yarn.lock": "x"})

    assert (await glob_files(workspace, GlobArguments(pattern="*.png"))).files == ("a.png",)
    assert (await glob_files(workspace, GlobArguments(pattern="yarn.lock"))).files == ("yarn.lock",)


async def test_too_many_files_are_cut_off_and_counted(workspace: Workspace) -> None:
    found = await glob_files(workspace, GlobArguments(pattern="**", max_results=1))

    assert found == GlobResult(("README.md",), 4, True)


async def test_a_bad_glob_is_a_clear_error(workspace: Workspace) -> None:
    with pytest.raises(BadPattern, match=r"'src/\[' cannot be used"):
        await glob_files(workspace, GlobArguments(pattern="src/["))
