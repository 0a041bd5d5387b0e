"""A turn that dies at any step: no message is lost, none is there twice, and it can be resumed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.conversations import Conversation, Message
from ragforge.domain.turns import group_into_turns
from ragforge.search.tokenise import WORDS
from tests.fakes.zygote import run_module
from tests.faults.turn_taker import ANSWER, QUESTION

SESSION = "session"
NEVER = 10**9


def take(store: Path, project: Path, step: int, *more: str) -> subprocess.CompletedProcess[str]:
    words = [str(store), str(project), SESSION, str(step), *more]
    return run_module("tests.faults.turn_taker", *words)


async def prepare(folder: Path) -> tuple[Path, Path]:
    project = folder / "project"
    project.mkdir(parents=True)
    place = folder / "store.db"
    store = await open_sqlite(place, WORDS)
    await store.conversations.create(Conversation(str(project), str(project), SESSION))
    await store.close()
    return place, project


async def messages(place: Path) -> list[Message]:
    store = await open_sqlite(place, WORDS)
    try:
        return await store.conversations.messages(SESSION)
    finally:
        await store.close()


@pytest.mark.timeout(900)
async def test_killed_at_every_step_the_turn_is_gone_on_with(tmp_path: Path) -> None:
    whole, project = await prepare(tmp_path / "whole")
    done = take(whole, project, NEVER)
    assert done.returncode == 0, done.stderr
    steps = int(done.stdout)
    assert steps > 15

    for step in range(steps):
        place, project = await prepare(tmp_path / str(step))
        killed = take(place, project, step)
        assert killed.returncode == -9, killed.stderr
        before = await messages(place)
        asked = [m for m in before if m.role == "user"]
        if not asked:
            assert step == 0, "once it was appended, the question is there"
            continue
        assert [m.content for m in asked] == [QUESTION]

        again = take(place, project, NEVER, "retry")
        if before[-1].content == ANSWER:
            assert "is answered" in again.stderr
            assert await messages(place) == before
            continue
        assert again.returncode == 0, again.stderr
        after = await messages(place)
        [turn] = group_into_turns(after)
        assert after[: len(before)] == before, "nothing that was stored is changed"
        assert turn.answer == ANSWER
        said = [m.content for m in turn.replies if m.role == "assistant"]
        assert said == ["I write.", "I read.", ANSWER]
        assert (project / "word.txt").read_text() == "word\n"
