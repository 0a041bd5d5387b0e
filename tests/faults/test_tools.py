"""Tools among hostile files and patterns: bounded, confined, and nothing is left running."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from ragforge import load_settings, open_app
from ragforge.context.excerpts import Location, enrich_locations
from ragforge.errors import InputError
from ragforge.tools import grep_files as surroundings
from ragforge.tools import scan
from ragforge.tools.command.run import CommandRunner
from ragforge.tools.grep_files import GrepArguments, Matches, grep_files
from ragforge.tools.list_files import GlobArguments, ListArguments, glob_files, list_files
from ragforge.tools.read_file import ReadArguments, make_read_tool, read_file
from ragforge.tools.ripgrep import find_ripgrep
from ragforge.tools.search_files import SearchArguments, search_files
from ragforge.tools.workspace import Listing, Workspace
from tests.faults.test_bad_files import unprivileged

MEGABYTE = 1_000_000


async def grep(workspace: Workspace, regex: str, seconds: float = 60, **more: int) -> Matches:
    return await grep_files(workspace, GrepArguments(pattern="**", regex=regex, **more), seconds)


async def fuzzy(workspace: Workspace, query: str, seconds: float = 60, **more: int) -> Matches:
    given = SearchArguments(pattern="**", query=query, **more)  # type: ignore[arg-type]
    return await search_files(workspace, given, seconds)


def files_of(found: Matches) -> list[str]:
    return [match.file for match in found.matches]


def children() -> set[int]:
    """Processes below this one that do anything."""
    mine = psutil.Process().children(recursive=True)
    return {child.pid for child in mine if child.status() != psutil.STATUS_ZOMBIE}


@pytest.mark.parametrize("regex", [r"(a+)+(?=b)$", r"(a|aa)+\1$", r"(.*a){20}(?!x)b"])
async def test_a_catastrophic_regex_ends_and_costs_only_the_files_it_is_catastrophic_in(
    tmp_path: Path, regex: str
) -> None:
    (tmp_path / "a.txt").write_text("a" * 60 + "!\n")
    (tmp_path / "b.txt").write_text("nothing of the kind\n")

    found = await grep(Workspace.at(tmp_path), regex, seconds=20)

    assert not found.matches
    assert not found.timed_out


@pytest.mark.parametrize("query", ["a" * 200, "aa " * 60, "(a+)+$ (a|aa)+ .* [^a]*"])
async def test_no_query_is_catastrophic(tmp_path: Path, query: str) -> None:
    (tmp_path / "a.txt").write_text(("a" * 5_000 + "!\n") * 20)
    (tmp_path / "b.txt").write_text("nothing of the kind\n")

    found = await fuzzy(Workspace.at(tmp_path), query, seconds=30)

    assert not found.timed_out


@pytest.mark.parametrize(
    "line",
    [
        "grep -nP '(a+)+(?=b)$' a.txt",
        r"grep -nE '(a|aa)+\1$' a.txt",
        "rg -nP '(a+)+(?=b)$'",
        r"sed -nE '/(a|aa)+\1b$/p' a.txt",
        "awk '/^(a+)+b$/' a.txt",
        r"find . -regextype egrep -regex '.*(a+)+\1b'",
    ],
)
async def test_a_command_with_a_catastrophic_regex_ends_at_its_deadline(
    tmp_path: Path, line: str
) -> None:
    (tmp_path / "a.txt").write_text("a" * 5_000 + "!\n")
    before = children()
    start = time.monotonic()

    done = await CommandRunner(tmp_path).run(line, timeout=2)

    assert time.monotonic() - start < 20
    assert done.stdout == ""
    assert children() <= before


async def test_time_that_is_up_gives_what_was_found_and_ends_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "FEW_FILES", 1)
    slow = tmp_path.parent / f"{tmp_path.name}-rg"
    slow.write_text(f'#!/bin/sh\n{find_ripgrep()} "$@"\nsleep 60\n')
    slow.chmod(0o755)
    (tmp_path / "a.txt").write_text("ab\n")
    for number in range(5):
        (tmp_path / f"b{number}.txt").write_text("nothing of the kind\n")
    before = children()

    found = await grep(Workspace.at(tmp_path, str(slow)), "^ab", seconds=1.5)

    assert found.timed_out
    assert found.truncated
    assert [match.file for match in found.matches] == ["a.txt"]
    assert children() <= before


@pytest.mark.parametrize("search", ["grep", "fuzzy"])
async def test_a_search_that_is_cancelled_leaves_no_process(
    tmp_path: Path, search: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    (tmp_path / "a.txt").write_text("words\n")
    workspace = Workspace.at(tmp_path, str(slow))
    before = children()
    call = (
        grep(workspace, "x")
        if search == "grep"
        else search_files(workspace, SearchArguments(pattern="**", query="words"))
    )
    task = asyncio.create_task(call)
    async with asyncio.timeout(30):
        while children() <= before:  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert children() <= before


async def test_a_program_that_cannot_be_started_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words\n")

    with pytest.raises(InputError, match="cannot be started"):
        await grep(Workspace.at(tmp_path, "/nowhere/rg"), "x")


async def test_a_search_that_dies_is_not_taken_for_one_that_found_nothing(tmp_path: Path) -> None:
    dying = tmp_path / "dying"
    dying.write_text("#!/bin/sh\nkill -9 $$\n")
    dying.chmod(0o755)
    (tmp_path / "a.txt").write_text("words\n")

    assert (await grep(Workspace.at(tmp_path, str(dying)), "x")).truncated


async def test_pipes_devices_sockets_and_loops_are_passed_by(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hit\n")
    os.mkfifo(tmp_path / "pipe.txt")
    if os.geteuid() == 0:
        with suppress(PermissionError):
            os.mknod(tmp_path / "device.txt", 0o600 | stat.S_IFCHR, os.makedev(1, 5))  # zeros
    (tmp_path / "zero.txt").symlink_to("/dev/zero")
    (tmp_path / "self").symlink_to(".")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "up").symlink_to("..")

    workspace = Workspace.at(tmp_path)

    assert files_of(await grep(workspace, "hit", context_lines=5)) == ["a.txt"]
    assert files_of(await fuzzy(workspace, "hit", context_lines=5)) == ["a.txt"]
    assert (await glob_files(workspace, GlobArguments(pattern="**"))).files == ("a.txt",)
    listed = await list_files(workspace, ListArguments(depth=9))
    assert listed.entries == ("a.txt",)
    assert listed.left_out["special"] >= 1
    for path in ("pipe.txt", "zero.txt", "loop", "up/x"):
        with pytest.raises(InputError):
            await read_file(workspace, ReadArguments(path=path))


async def test_commands_do_not_open_pipes_and_devices(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hit\n")
    os.mkfifo(tmp_path / "pipe.txt")
    with suppress(PermissionError):
        os.mknod(tmp_path / "device.txt", 0o600 | stat.S_IFCHR, os.makedev(1, 5))
    runner = CommandRunner(tmp_path)

    for line in ("grep -rn hit .", "rg -n hit", "find . -type f"):
        done = await runner.run(line, timeout=20)
        assert "a.txt" in done.stdout
        assert "pipe.txt" not in done.stdout
        assert not done.timed_out
    for line in ("cat pipe.txt", "cat *", "grep hit *.txt", "wc -l ./*", "head pipe.txt"):
        assert "neither a file nor a directory" in ((await runner.run(line)).refused or "")


async def test_a_spot_on_a_pipe_or_behind_a_link_out_is_dropped_from_a_context(
    tmp_path: Path,
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "secret.txt").write_text("secret\n")
    (project / "a.txt").write_text("hit\n")
    os.mkfifo(project / "pipe.txt")
    (project / "zero.txt").symlink_to("/dev/zero")
    (project / "out.txt").symlink_to("../secret.txt")
    names = ["gone.txt", "pipe.txt", "zero.txt", "out.txt", "../secret.txt", "a\0.txt", "a.txt"]
    spots = [Location(name, 1, 0.9, 0.8, "grep") for name in names]

    async with asyncio.timeout(20):
        pieces = await enrich_locations(spots, None, "", project)

    assert [piece.file for piece in pieces] == ["a.txt"]


async def test_a_link_that_takes_a_files_place_after_it_was_listed_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "secret.txt").write_text("hit: secret\n")
    (project / "a.txt").write_text("hit\n")
    (project / "b.txt").write_text("hit\n")
    select = Workspace.select

    async def then_swap(self: Workspace, *given: object) -> object:
        selected = await select(self, *given)  # type: ignore[arg-type]
        (project / "a.txt").unlink()
        (project / "a.txt").symlink_to(tmp_path / "secret.txt")
        return selected

    monkeypatch.setattr(Workspace, "select", then_swap)

    found = await grep(Workspace.at(project), "hit", context_lines=1)

    assert [match.file for match in found.matches] == ["b.txt"]


@pytest.mark.parametrize("by", ["regex", "words"])
@pytest.mark.parametrize("happens", ["deleted", "shortened", "grown"])
async def test_a_file_that_changes_between_search_and_read_keeps_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, happens: str, by: str
) -> None:
    place = tmp_path / "a.txt"
    place.write_text("above\nhit me\nbelow\n")
    read = surroundings.read_lines

    def meanwhile(*given: object) -> list[str]:
        if happens == "deleted":
            place.unlink()
        else:
            place.write_text("x\n" if happens == "shortened" else "x\ny\n" * 50)
        return read(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(surroundings, "read_lines", meanwhile)

    search = grep if by == "regex" else fuzzy
    [match] = (await search(Workspace.at(tmp_path), "hit", context_lines=5)).matches

    assert (match.content, match.line, match.start_line, match.end_line) == ("hit me", 2, 2, 2)


async def test_a_file_deleted_after_it_was_listed_cannot_be_read_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("hit\n")
    workspace = Workspace.at(tmp_path)
    look = Listing.find_directory

    def then_delete(self: Listing, path: str) -> object:
        node = look(self, path)
        (tmp_path / "a.txt").unlink(missing_ok=True)
        return node

    monkeypatch.setattr(Listing, "find_directory", then_delete)

    with pytest.raises(InputError, match=r"'a.txt' cannot be read: No such file"):
        await read_file(workspace, ReadArguments(path="a.txt"))


async def test_files_that_are_gone_when_the_search_gets_to_them_are_passed_by(
    tmp_path: Path,
) -> None:
    (tmp_path / "b.txt").write_text("hit\n")
    workspace = Workspace.at(tmp_path)

    found = await scan.find_lines(
        workspace.root,
        workspace.ripgrep,
        ["a.txt", "b.txt"],
        "hit",
        False,
        10,
        scan.Deadline(60),
    )

    assert [line.file for line in found.lines] == ["b.txt"]
    assert found.complete


async def test_what_may_not_be_read_is_passed_by_and_named_when_asked_for(
    tmp_path: Path,
) -> None:
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents[:3]:
        parent.chmod(0o755)
    (tmp_path / "a.txt").write_text("hit\n")
    (tmp_path / "b.txt").write_text("hit\n")
    (tmp_path / "b.txt").chmod(0)
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed/c.txt").write_text("hit\n")
    (tmp_path / "closed").chmod(0)
    shared = tmp_path.parent / f"{tmp_path.name}-rg"  # the installed one may be only for root
    shutil.copy(find_ripgrep() or "rg", shared)
    try:
        with unprivileged():
            workspace = Workspace.at(tmp_path, str(shared))
            found = await grep(workspace, "hit")
            listed = await list_files(workspace, ListArguments(depth=3))
            with pytest.raises(InputError, match="Permission denied"):
                await read_file(workspace, ReadArguments(path="b.txt"))
            with pytest.raises(InputError, match="left out: unreadable"):
                await read_file(workspace, ReadArguments(path="closed/c.txt"))
    finally:
        (tmp_path / "closed").chmod(0o755)

    assert [match.file for match in found.matches] == ["a.txt"]
    assert found.notes == ("Files left out: 1 (they cannot be read).",)
    assert listed.entries == ("a.txt", "b.txt", "closed/")


async def test_names_that_are_not_unicode_are_passed_by(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hit\n")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.txt")).write_text("hit\n")

    workspace = Workspace.at(tmp_path)

    assert [match.file for match in (await grep(workspace, "hit")).matches] == ["a.txt"]
    with pytest.raises(InputError, match="path: "):
        await make_read_tool(workspace).run({"path": "bad\udcff.txt"})


async def test_a_line_of_ten_megabytes_is_searched_and_shown_in_part(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x" * (9 * MEGABYTE) + "needle" + "y" * 100_000)
    workspace = Workspace.at(tmp_path)

    [match] = (await grep(workspace, "needle", context_lines=50)).matches
    [near] = (
        await search_files(workspace, SearchArguments(pattern="**", query="xneedle"), 60)
    ).matches or [None]

    assert "xneedley" in match.content
    assert len(match.content) <= 5_000
    assert near is None  # nine million letters are not a word


async def test_a_file_that_grew_since_it_was_listed_costs_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "EVENT_BYTES", 100_000)
    (tmp_path / "a.txt").write_text("hit\n")
    (tmp_path / "b.txt").write_text("hit" * 200_000)
    (tmp_path / "c.txt").write_text("hit\n")

    found = await grep(Workspace.at(tmp_path), "hit")

    assert [match.file for match in found.matches] == ["a.txt", "c.txt"]
    assert found.notes


def peak(work: Callable[[], object]) -> float:
    """Return by how many MB the work raised the most memory this process ever had."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    work()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


@pytest.mark.long
def test_a_line_of_a_gigabyte_is_not_searched_and_its_beginning_can_be_read(
    tmp_path: Path,
) -> None:
    with open(tmp_path / "big.txt", "wb") as file:
        for _ in range(16):
            file.write(b"x" * (1 << 26))
    (tmp_path / "a.txt").write_text("xx\n")
    workspace = Workspace.at(tmp_path)

    async def work() -> None:
        found = await grep(workspace, "xx")
        assert [match.file for match in found.matches] == ["a.txt"]
        text = await read_file(workspace, ReadArguments(path="big.txt"), 60)
        assert len(text.content) <= 2_001
        assert text.truncated
        with pytest.raises(InputError, match="not reached in time"):
            await read_file(workspace, ReadArguments(path="big.txt", start_line=2), 0.2)

    assert peak(lambda: asyncio.run(work())) < 200


def test_a_sparse_file_of_a_gigabyte_costs_nothing(tmp_path: Path) -> None:
    with open(tmp_path / "big.txt", "wb") as file:
        file.write(b"hit " * 10_000)  # the rest of its one line takes no space on the disk
        file.truncate(1 << 30)
    (tmp_path / "a.txt").write_text("hit\n")
    workspace = Workspace.at(tmp_path)

    async def work() -> None:
        assert files_of(await grep(workspace, "hit", context_lines=50)) == ["a.txt"]
        assert files_of(await fuzzy(workspace, "hit", context_lines=50)) == ["a.txt"]
        listed = await list_files(workspace, ListArguments())
        assert listed.entries == ("a.txt", "big.txt")
        text = await read_file(workspace, ReadArguments(path="big.txt"), 60)
        assert text.content.startswith("hit hit")
        assert len(text.content) <= 2_001
        [piece] = await enrich_locations(
            [Location("big.txt", 1, 0.9, 0.8, "grep")], None, "", tmp_path
        ) or [None]
        assert piece is None  # what looks binary is not shown
        runner = CommandRunner(tmp_path)
        cut = await runner.run("cat big.txt", timeout=30)
        assert (cut.truncated, len(cut.stdout)) == (True, runner.limits.stdout_bytes)
        for line in ("head -c 5 big.txt", "wc -c big.txt", "ls -l", "file big.txt"):
            assert not (await runner.run(line, timeout=30)).timed_out

    assert peak(lambda: asyncio.run(work())) < 200


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """A project of 200,000 files in 200 directories; the last file has something in it."""
    project = tmp_path / "many"
    for folder in range(200):
        place = project / f"{folder % 10}" / f"{folder:03}"
        place.mkdir(parents=True)
        for number in range(1_000):
            os.close(os.open(place / f"file_{number}.txt", os.O_CREAT | os.O_WRONLY))
    (project / "9/199/file_999.txt").write_text("the needle\n")
    return project


@pytest.mark.long
def test_two_hundred_thousand_files_are_searched_within_bounds(many: Path) -> None:
    last = "9/199/file_999.txt"
    workspace = Workspace.at(many)
    before = children()

    async def work() -> None:
        found = await grep(workspace, "needle")
        assert (files_of(found), found.files_searched) == ([last], 200_000)
        near = await fuzzy(workspace, "nedle")
        assert files_of(near) == [last]
        named = await fuzzy(workspace, "file_999")
        assert (len(named.matches), named.truncated) == (50, True)
        paths = await glob_files(workspace, GlobArguments(pattern="**/*.txt"), 60)
        assert (len(paths.files), paths.total_files, paths.truncated) == (200, 200_000, True)
        listed = await list_files(workspace, ListArguments(depth=20), 60)
        assert (len(listed.entries), listed.truncated) == (300, True)

    assert peak(lambda: asyncio.run(work())) < 300
    assert children() <= before


@pytest.mark.long
async def test_two_hundred_thousand_files_end_with_the_time(many: Path) -> None:
    before = children()
    for search in (grep, fuzzy):
        start = time.monotonic()
        hurried = await search(Workspace.at(many), "file_999", seconds=0.5)

        assert hurried.truncated
        assert time.monotonic() - start < 20
        assert children() <= before


@pytest.mark.long
async def test_a_context_among_two_hundred_thousand_files_is_built_in_time(many: Path) -> None:
    (many / "pyproject.toml").write_text("[project]\n")
    environ = {
        "RAGFORGE_STORE": str(many.parent / "store.db"),
        "RAGFORGE_CONFIG": "",
        "RAGFORGE_BRAIN__INGEST_AUTOMATICALLY": "false",
        "RAGFORGE_AGENT__CONTEXT__SEARCH_SECONDS": "60",
    }
    async with open_app(load_settings(many, environ=environ).settings, many) as app:
        calm = await app.build_context("Where is the `needle` used?")
    environ["RAGFORGE_AGENT__CONTEXT__SEARCH_SECONDS"] = "0.5"
    start = time.monotonic()
    async with open_app(load_settings(many, environ=environ).settings, many) as app:
        hurried = await app.build_context("Where is the `needle` used?")

    assert [piece.file for piece in calm.code] == ["9/199/file_999.txt"]
    assert not calm.receipt.degraded
    of_files = [search for search in hurried.receipt.searches if "_files" in search.name]
    assert all(search.problem for search in of_files)
    assert time.monotonic() - start < 30
