"""Which conversations touched some code, turn by turn, and what became of it since."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from ragforge.domain.code import Touch
from ragforge.domain.conversations import ToolResult
from ragforge.domain.instants import now
from ragforge.domain.projects import ProjectPlace
from ragforge.memory.code.about import ConversationAbout, find_conversations_about, merge_touches
from ragforge.ports.store import Store
from ragforge.tools.command.run import CommandRunner
from ragforge.tools.git import GitHistory
from ragforge.tools.memory_tools import make_sessions_about_tool
from tests.fakes.builders import assistant, at, tool_call, user
from tests.fakes.projects import brain_of
from tests.fakes.remembering import Memory, memory_of

CART = """class Cart:
    def add(self, item):
        self.items.append(item)

    def total(self):
        return sum(self.items)
"""
YESTERDAY = now() - timedelta(days=1)


def git(root: Path, *words: str, when: datetime | None = None) -> None:
    date = (when or now()).isoformat()
    names = {"GIT_AUTHOR_NAME": "Ann", "GIT_COMMITTER_NAME": "Ann"}
    names |= {"GIT_AUTHOR_EMAIL": "a@b.c", "GIT_COMMITTER_EMAIL": "a@b.c"}
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    environment = {"PATH": os.environ["PATH"], "HOME": str(root), **names, **dates}
    command = ["git", "-c", "init.defaultBranch=main", *words]
    subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True)


@pytest.fixture
async def memory(store: Store, tmp_path: Path) -> Memory:
    """A committed project that is known, and two turns of yesterday: one reads, one names."""
    root = tmp_path.resolve()
    (root / "cart.py").write_text(CART)
    git(root, "init")
    git(root, "add", ".")
    git(root, "commit", "-m", "Begin", when=YESTERDAY - timedelta(days=9))
    await brain_of(store, root).ingest()
    memory = memory_of(store)
    talk = await memory.start(str(root), str(root))
    read = {"file": "cart.py", "startLine": 5, "endLine": 6, "content": "…"}
    call = tool_call("read_file", result=ToolResult(True, read))
    turns = [[user("Look."), assistant("Read.", call)], [user("What is `Cart.total`?")]]
    for turn in turns:
        said = [replace(message, timestamp=YESTERDAY) for message in turn]
        await memory.recorder.store_turn(talk, said)
    await memory.worker.drain()
    return memory


async def about(
    memory: Memory, root: Path, name: str, with_git: bool = True
) -> list[ConversationAbout]:
    root = root.resolve()
    log = GitHistory(CommandRunner(root)) if with_git else None
    return await find_conversations_about(
        memory.store, name, root, ProjectPlace.at(str(root)), log=log
    )


async def after(memory: Memory, root: Path, name: str) -> list[str]:
    """Return what became of what each turn touched, the newest turn first."""
    [found] = await about(memory, root, name)
    return [one.since.describe(one.touch) for one in found.touched]


async def test_each_turn_says_what_was_done_there(memory: Memory, tmp_path: Path) -> None:
    [found] = await about(memory, tmp_path, "total")
    done = [(one.touch.first_turn, one.touch.how, one.touch.name) for one in found.touched]
    assert done == [(0, "read", "Cart.total"), (1, "named", "Cart.total")]
    assert {one.touch.when for one in found.touched} == {
        YESTERDAY.replace(microsecond=YESTERDAY.microsecond // 1000 * 1000)
    }
    assert {one.since.describe(one.touch) for one in found.touched} == {"unchanged since"}
    assert {one.since.commits for one in found.touched} == {()}
    [whole] = await about(memory, tmp_path, "Cart")  # touched, for its method is
    assert [one.touch.name for one in whole.touched] == ["Cart.total"] * 2


async def test_commits_after_the_turn_that_changed_these_lines_are_named(
    memory: Memory, tmp_path: Path
) -> None:
    cart = tmp_path / "cart.py"
    cart.write_text(CART.replace("append(item)", "insert(0, item)"))
    git(tmp_path, "commit", "-am", "Newest first")
    cart.write_text("# A cart.\n" + cart.read_text().replace("sum(", "round(sum("))
    git(tmp_path, "commit", "-am", "Round\ttotals")
    # What is not committed yet moves the lines that git is asked about.
    cart.write_text("# One more line.\n" * 9 + cart.read_text())
    await brain_of(memory.store, tmp_path).ingest()

    [found] = await about(memory, tmp_path, "Cart.total")
    for one in found.touched:
        assert one.since.describe(one.touch) == "changed since"
        assert one.since.commits is not None
        assert [commit.subject for commit in one.since.commits] == ["Round\ttotals"]
        assert one.since.commits[0].author == "Ann"
    later = [one for one in found.touched if one.touch.when > now()]
    assert later == []


async def test_without_git_the_content_tells(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "cart.py").write_text(CART.replace("sum(", "len("))
    await brain_of(memory.store, tmp_path).ingest()
    [found] = await about(memory, tmp_path, "total", with_git=False)
    assert [one.since.state for one in found.touched] == ["changed", "changed"]
    assert [one.since.commits for one in found.touched] == [None, None]


async def test_code_that_went_to_another_file_is_found_there(
    memory: Memory, tmp_path: Path
) -> None:
    (tmp_path / "shop.py").write_text("\n\n" + CART)
    (tmp_path / "cart.py").unlink()
    await brain_of(memory.store, tmp_path).ingest()
    assert set(await after(memory, tmp_path, "total")) == {"moved to shop.py:7-8"}

    (tmp_path / "shop.py").write_text(CART.replace("sum(", "len("))
    await brain_of(memory.store, tmp_path).ingest()
    assert set(await after(memory, tmp_path, "total")) == {"moved to shop.py:5-6 and changed"}


async def test_code_that_has_another_name_now_is_found_by_its_content(
    memory: Memory, tmp_path: Path
) -> None:
    (tmp_path / "cart.py").write_text(CART.replace("class Cart", "class Basket"))
    await brain_of(memory.store, tmp_path).ingest()
    assert set(await after(memory, tmp_path, "Cart.total")) == {
        "renamed to Basket.total (cart.py:5-6)"
    }


async def test_code_that_is_gone_names_the_commit_that_removed_it(
    memory: Memory, tmp_path: Path
) -> None:
    (tmp_path / "cart.py").write_text(CART.partition("    def total")[0])
    git(tmp_path, "commit", "-am", "Nobody counts")
    await brain_of(memory.store, tmp_path).ingest()
    [found] = await about(memory, tmp_path, "total")
    [first, _] = found.touched
    assert first.since.describe(first.touch) == "gone"
    assert first.since.commits is not None
    assert [commit.subject for commit in first.since.commits] == ["Nobody counts"]


async def test_a_folder_without_git_has_no_commits(store: Store, tmp_path: Path) -> None:
    log = GitHistory(CommandRunner(tmp_path))
    assert await log.list_line_commits("a.py", 1, 2, YESTERDAY) is None
    assert await log.list_file_commits("a.py", "x", YESTERDAY) is None


async def test_a_model_asks_for_it_by_name_and_gets_ids_to_read_on(
    memory: Memory, tmp_path: Path
) -> None:
    root = tmp_path.resolve()
    tool = make_sessions_about_tool(memory.store, ProjectPlace.at(str(root)), CommandRunner(root))
    found = await tool.run({"name": "Cart::total"})
    [session] = found["sessions"]
    [first, second] = session["touched"]
    assert (first["turn"], first["how"], first["since"]) == (0, "read", "unchanged since")
    assert (second["turn"], second["how"]) == (1, "named")
    assert len(await memory.store.timeline.turns([first["id"], second["id"]])) == 2
    few = await tool.run({"name": "Cart::total", "limit": 1})
    assert few["note"] == "1 more are not listed."
    assert (await tool.run({"name": "nothing"})) == {"sessions": []}


def test_a_turn_counts_once_and_a_summary_only_for_what_no_turn_says() -> None:
    turn = Touch("c", 3, 3, at(3), "named", "a.py", "f", "h", "id-f")
    read = replace(turn, how="read")
    covered = replace(turn, first_turn=0, last_turn=5, by_summary=True, target_id="id-a", name=None)
    other = replace(covered, file="b.py", target_id="id-b")
    assert merge_touches([turn, covered, read, other]) == [read, other]
