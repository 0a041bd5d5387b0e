"""Turns under adverse conditions: a locked or full store, and two terminals in one session."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from ragforge import App, load_settings, open_app
from ragforge.agent.events import Done, Event
from ragforge.domain.chat import AssistantMessage, ChatRequest, ToolMessage, UserMessage
from ragforge.domain.turns import group_into_turns
from ragforge.errors import StoreFull
from ragforge.llm.ask import ChatClient
from ragforge.memory.sessions import create_session
from tests.fakes.scripted_model import ScriptedModel, calls, last_words

LOCK = """
import apsw, sys, time
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
time.sleep(float(sys.argv[2]))
connection.execute("COMMIT")
"""


def script(request: ChatRequest) -> AssistantMessage:
    """Look once, then answer with the question that was asked."""
    if not request.tools:
        return AssistantMessage('{"title": "A title"}')
    asked = max(n for n, said in enumerate(request.messages) if isinstance(said, UserMessage))
    if not any(isinstance(message, ToolMessage) for message in request.messages[asked:]):
        return calls(("list_files", {}), text="I look.")
    return AssistantMessage(f"Answer to: {last_words(request).rpartition('# Question')[2].strip()}")


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[App]:
    project = folder / "project"
    project.mkdir(exist_ok=True)
    environ = {
        "RAGFORGE_STORE": str(folder / "store.db"),
        "RAGFORGE_AGENT__STATE_DIR": str(folder / "state"),
        "RAGFORGE_JOBS__DETACH": "false",
        "RAGFORGE_JOBS__CLOSING_SECONDS": "0",
        "RAGFORGE_AGENT__CONTEXT__PLAN_BY": "rules",
    }
    async with open_app(load_settings(project, environ=environ).settings, project) as app:
        yield replace(app, chat=ChatClient(ScriptedModel(script)))


async def test_a_store_that_another_process_locks_for_two_seconds_is_waited_for(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as app:
        session = await create_session(app.store, app.cwd)
        place = str(tmp_path / "store.db")
        with subprocess.Popen(
            [sys.executable, "-c", LOCK, place, "2"], stdout=subprocess.PIPE, text=True
        ) as locking:
            assert locking.stdout is not None
            assert locking.stdout.readline() == "locked\n"
            answer = await app.ask("Is it open?", session.uuid)
        stored = await app.store.timeline.messages(session.uuid)

    assert answer.content == "Answer to: Is it open?"
    assert [m.role for m in stored] == ["user", "assistant", "assistant"]


async def test_a_full_disk_is_reported_and_the_session_continues_when_there_is_room(
    small_disk: Path,
) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(500_000))
    events: list[Event] = []
    asked = 0
    async with opened(small_disk) as app:
        session = await create_session(app.store, app.cwd)

        async def ask_on() -> None:
            nonlocal asked
            while True:
                events.clear()
                await app.ask(f"{asked} {'x' * 20_000}", session.uuid, on_event=events.append)
                asked += 1

        with pytest.raises(StoreFull, match="Make room, try again"):
            await ask_on()
        before = await app.store.timeline.messages(session.uuid)
        ballast.unlink()
        answer = await app.ask("And now?", session.uuid)
        stored = await app.store.timeline.messages(session.uuid)

    assert asked > 0
    assert answer.content == "Answer to: And now?"
    assert not any(isinstance(event, Done) for event in events), "it is not done before it is kept"
    assert stored[: len(before)] == before


async def test_two_terminals_in_one_session_mix_neither_questions_nor_answers(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as one, opened(tmp_path) as other:
        session = await create_session(one.store, one.cwd)

        async def talk(app: App, who: str) -> None:
            for number in range(5):
                await app.ask(f"{who} asks {number}", session.uuid)

        await asyncio.gather(talk(one, "one"), talk(other, "other"))
        turns = group_into_turns(await one.store.timeline.messages(session.uuid))

    assert len(turns) == 10
    assert sorted(turn.user.turn_index or 0 for turn in turns) == list(range(10))
    for turn in turns:
        assert turn.answer == f"Answer to: {turn.user.content}"
        assert [m.role for m in turn.replies] == ["assistant", "assistant"]
