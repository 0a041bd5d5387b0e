"""Races: a directory that becomes a link between check and use leads nothing out of the project."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from ragforge.brain.files import beneath
from ragforge.brain.files.exclusions import FileLimits
from ragforge.brain.files.ignore import IgnoreRules
from ragforge.brain.files.walk import DirectoryContents, read_directory
from ragforge.brain.parse.read_source import read_file
from ragforge.errors import InputError
from ragforge.tools.confine import Root
from ragforge.tools.edits.change import FileEdit, Journal, apply_change
from ragforge.tools.grep_files import GrepArguments, grep_files
from ragforge.tools.workspace import Workspace

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="swaps by a call of Linux")

REFUSED = re.compile(r"link|regular|not a valid path|cross-device|leads out|Not a directory")
READS, WRITES, SEARCHES = 2_000, 800, 40
SECRET, OWN = "the secret outside\n", "the text inside\n"
# Swaps a directory and a link for each other until its parent is gone. Every thousand swaps it
# rests with the directory in its place, so that some reads succeed on any machine.
SWAPPER = """
import ctypes, os, sys, time
folder, link = map(os.fsencode, sys.argv[1:])
rename = ctypes.CDLL(None).renameat2
print("ready", flush=True)
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(1_000):
        if rename(-100, folder, -100, link, 2):  # from where we are; both ways at once
            sys.exit("the two cannot be swapped here")
    time.sleep(0.001)
"""


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "file.txt").write_text(SECRET)
    (folder / "secret-name.txt").write_text(SECRET)
    return folder


@pytest.fixture
def project(tmp_path: Path, outside: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "file.txt").write_text(OWN)
    (folder / "other.txt").write_text(OWN)
    return folder


@pytest.fixture
def swapper(tmp_path: Path, project: Path, outside: Path) -> Iterator[None]:
    """A hostile process that swaps `sub` for a link to the outside, as fast as it can."""
    link = tmp_path / "link"
    link.symlink_to(outside)
    places = [str(project / "sub"), str(link)]
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", SWAPPER, *places], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    with process:
        yield
        assert process.poll() is None, "the hostile process has given up"
        process.kill()


@pytest.fixture(params=["kernel", "steps"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to follow a path: by the kernel, and step by step."""
    if request.param == "steps":
        monkeypatch.setattr(beneath, "_load_openat2", lambda: None)


@pytest.mark.usefixtures("swapper", "way")
def test_reading_never_leaves_the_project(project: Path) -> None:
    root, read = Root.at(project), set()
    for _ in range(READS):
        with suppress(OSError, InputError), root.open(root.inside("sub/file.txt")) as file:
            read.add(file.read())
    assert read == {OWN.encode()}


@pytest.mark.usefixtures("swapper")
def test_ingesting_and_listing_never_leave_the_project(project: Path) -> None:
    scopes, names = set(), set()
    for _ in range(READS // 5):
        parsed = read_file(str(project), "p", "sub/file.txt", 0).parsed
        scopes.update(scope.source for scope in (parsed.scopes if parsed else ()))
        with suppress(OSError):
            place = str(project / "sub")
            found = read_directory(str(project), place, "sub", IgnoreRules(), FileLimits())
            names.update(found.names if isinstance(found, DirectoryContents) else ())
    assert scopes
    assert not any("secret" in scope for scope in scopes)
    assert names == {"file.txt"}


@pytest.mark.usefixtures("swapper", "way")
def test_writing_undoing_and_deleting_never_leave_the_project(
    project: Path, outside: Path, tmp_path: Path
) -> None:
    root, journal = Root.at(project), Journal(tmp_path / "journal")
    done = 0
    for number in range(WRITES):
        change = FileEdit(f"sub/new{number % 7}/made.txt", None, b"made\n")
        if number % 3 == 0:
            change = FileEdit("sub/file.txt", OWN.encode(), f"{number}\n".encode())
        with suppress(InputError):
            apply_change(root, change)
            done += 1
        with suppress(InputError):
            apply_change(root, FileEdit(change.path, change.after, change.before))
        if number % 50 == 0:
            with suppress(InputError):
                journal.make(root, FileEdit("sub/file.txt", OWN.encode(), b"journalled\n"))
            with suppress(InputError):
                journal.undo(root)
    assert done
    assert sorted(os.listdir(outside)) == ["file.txt", "secret-name.txt"]
    assert (outside / "file.txt").read_text() == SECRET


@pytest.mark.usefixtures("swapper")
async def test_searching_shows_no_line_from_outside(project: Path) -> None:
    workspace = Workspace.at(project)
    shown = set()
    for _ in range(SEARCHES):
        with suppress(InputError):
            found = await grep_files(workspace, GrepArguments(pattern="**", regex="the "))
            shown.update(match.content for match in found.matches)
    assert shown == {OWN.strip()}


@pytest.mark.usefixtures("way")
def test_what_lies_beneath_is_opened_and_what_does_not_is_refused(
    project: Path, outside: Path
) -> None:
    (project / "link").symlink_to("other.txt")
    (project / "out").symlink_to(outside)
    os.mkfifo(project / "pipe")
    assert beneath.read_bytes(str(project), "sub/file.txt") == OWN.encode()
    for path in ("link", "out/file.txt", "pipe", "sub", "../outside/file.txt", "other.txt\0x"):
        with pytest.raises(OSError, match=REFUSED):
            beneath.read_bytes(str(project), path)
    with pytest.raises(InputError, match="outside"):
        apply_change(Root.at(project), FileEdit("out/x.txt", None, b"x"))
