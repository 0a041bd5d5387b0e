"""A turn that dies at any step: no message is lost or duplicated, and it can be resumed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.conversations import Conversation, Message
from ragforge.domain.schema import CONVERSATION
from ragforge.domain.turns import group_into_turns
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from tests.conftest import Effort
from tests.fakes.zygote import run_module
from tests.faults.turn_taker import AFTER, ANSWER, BEFORE, QUESTION

SESSION = "session"
NEVER = 10**9


def take(store: Path, project: Path, step: int, *more: str) -> subprocess.CompletedProcess[str]:
    words = [str(store), str(project), SESSION, str(step), *more]
    return run_module("tests.faults.turn_taker", *words)


async def prepare(folder: Path) -> tuple[Path, Path]:
    project = folder / "project"
    project.mkdir(parents=True)
    (project / "word.txt").write_text(BEFORE)
    (project / "pyproject.toml").write_text("[project]\n")
    place = folder / "store.db"
    await create(place, project)
    return place, project


async def create(place: Path, project: Path) -> None:
    store = await open_sqlite(place, WORDS, REDACTOR)
    await store.records.put(CONVERSATION, Conversation(str(project), str(project), SESSION))
    await store.close()


async def messages(place: Path) -> list[Message]:
    store = await open_sqlite(place, WORDS, REDACTOR)
    try:
        return await store.timeline.messages(SESSION)
    finally:
        await store.close()


@pytest.mark.timeout(900)
async def test_killed_at_every_step_the_turn_is_resumed_and_knows_every_edit(
    tmp_path: Path, effort: Effort
) -> None:
    whole, project = await prepare(tmp_path / "whole")
    done = take(whole, project, NEVER)
    assert done.returncode == 0, done.stderr
    steps = int(done.stdout)
    assert steps > 20
    edited = 0  # how often the process died between the edit and the storing of its result

    for step in range(0, steps, effort(3, 1)):
        place, project = await prepare(tmp_path / str(step))
        killed = take(place, project, step)
        assert killed.returncode == -9, killed.stderr
        before = await messages(place)
        asked = [m for m in before if m.role == "user"]
        if not asked:
            assert step == 0, "once it was appended, the question is there"
            continue
        assert [m.content for m in asked] == [QUESTION]
        broken = [call for m in before for call in m.tool_calls if call.result is None]
        is_edited = (project / "word.txt").read_text() == AFTER
        if is_edited and broken:
            edited += 1
            if edited == 1:
                await check_next_question(tmp_path, place, project)
        if is_edited:
            assert "edit_file" in [call.tool_name for m in before for call in m.tool_calls]

        again = take(place, project, NEVER, "retry")
        if before[-1].content == ANSWER:
            assert "is answered" in again.stderr
            assert await messages(place) == before
            continue
        assert again.returncode == 0, again.stderr
        after = await messages(place)
        [turn] = group_into_turns(after)
        kept = zip(before, after[: len(before)], strict=True)
        assert all((one.uuid, one.content) == (two.uuid, two.content) for one, two in kept)
        assert turn.answer == ANSWER
        edits = [call for call in turn.tool_calls if call.tool_name == "edit_file"]
        assert [call.success for call in edits].count(True) == 1, "it is there, and once"
        assert all(call.result is not None for call in turn.tool_calls)
        assert len(edits) == (1 if is_edited or not broken else 2)
        assert (project / "word.txt").read_text() == AFTER
    assert edited >= effort(1, 3)


async def check_next_question(folder: Path, place: Path, project: Path) -> None:
    """Check that a new question, in place of a retry, knows the edit of the killed turn too."""
    copy = folder / "copy.db"
    for suffix in ("", "-wal"):
        if Path(f"{place}{suffix}").exists():
            shutil.copy(f"{place}{suffix}", f"{copy}{suffix}")
    shutil.copytree(f"{place}.state", f"{copy}.state")
    assert take(copy, project, NEVER).returncode == 0
    [broken, asked] = group_into_turns(await messages(copy))
    [call] = broken.tool_calls
    assert call.result is not None
    assert "before the process ended" in str(call.result.result)
    assert asked.answer == ANSWER
