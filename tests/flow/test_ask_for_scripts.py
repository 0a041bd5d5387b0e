"""`ragforge ask` for scripts: pipes, JSON lines, sessions, permissions and exit codes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.conversations import ConversationFilter
from ragforge.domain.schema import CONVERSATION
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from tests.fakes.chat_server import Breaks, ChatServer, EndsEarly, Fails, Holds, Step
from tests.fakes.wires import Call, OpenAiWire, Says
from tests.fakes.zygote import Forked, fork, run_module

EDIT = Call("write_file", {"path": "made.txt", "content": "made\n"}, "call-1")
COMMAND = Call("run_command", {"command": "touch run.txt"}, "call-2")


@pytest.fixture
def engine() -> str:
    return "sqlite"


@pytest.fixture
def environ(environ: dict[str, str], tmp_path: Path) -> dict[str, str]:
    state = str(tmp_path / "state")
    return environ | {"OPENAI_API_KEY": "sk-none", "RAGFORGE_AGENT__STATE_DIR": state}


def model(*script: Step) -> ChatServer:
    return ChatServer(OpenAiWire(), script, aside=Says('{"title": "A title"}'))


async def run(
    arguments: list[str], environ: dict[str, str], project: Path, server: ChatServer, **how: Any
) -> subprocess.CompletedProcess[str]:
    own = {
        **environ,
        "RAGFORGE_LLM__MODEL": f"openai:{server.wire.model}",
        "RAGFORGE_LLM__BASE_URL": server.base_url,
    }
    if not how:
        return await asyncio.to_thread(run_module, "ragforge", *arguments, cwd=project, env=own)
    return await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "ragforge", *arguments],
        cwd=project,
        env=own,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        **how,
    )


def start(command: list[str], environ: dict[str, str], project: Path, printed: Path) -> Forked:
    """Start a command that prints into a file."""
    with printed.open("wb") as out, Path(os.devnull).open("r+b") as null:
        files = (null.fileno(), out.fileno(), null.fileno())
        return fork("ragforge", command, files, project, environ)


async def read_stored(environ: dict[str, str]) -> list[str]:
    """Return what the messages of the only session say."""
    store = await open_sqlite(Path(environ["RAGFORGE_STORE"]), WORDS, REDACTOR)
    try:
        [session] = await store.records.find(CONVERSATION, ConversationFilter())
        return [one.content for one in await store.timeline.messages(session.uuid)]
    finally:
        await store.close()


async def test_a_pipe_gets_only_the_answer(environ: dict[str, str], project: Path) -> None:
    script = (Says("Let me look.", calls=(Call("list_files", {}),)), Says("It is **there**."))
    async with model(*script) as server:
        done = await run(["-p", "Where?"], environ, project, server)
    assert (done.returncode, done.stdout, done.stderr) == (0, "It is **there**.\n", "")


async def test_lines_and_folders_are_sent_and_a_page_needs_a_rule(
    environ: dict[str, str], project: Path
) -> None:
    (project / "lease.py").write_text("".join(f"a{n} = {n}\n" for n in range(1, 10)))
    (project / "docs").mkdir()
    (project / "docs" / "guide.md").write_text("# Leases\n")
    (project / "docs" / "other.md").write_text("# Others\n")
    question = "What are @lease.py:3-4 and @docs/, and @http://localhost:1/x?"
    piped = "@docs/other.md:1\n"
    async with model(Says("Numbers.")) as server:
        done = await run(["ask", question], environ, project, server, input=piped)
        asked = server.asked_in_turns[0].text
    assert done.stdout.startswith("Numbers.\n")
    assert "@http://localhost:1/x is not sent: The user declined this. No one can" in done.stderr
    assert "@lease.py:3-4\\n3\\ta3 = 3\\n4\\ta4 = 4\\n<" in asked
    assert "@docs/\\ndocs/guide.md" in asked
    assert "1\\t# Others" not in asked
    stored = await read_stored(environ)
    assert stored[0].startswith(question)


async def test_every_event_is_a_line_of_json(environ: dict[str, str], project: Path) -> None:
    script = (
        Says("Let me look.", reasoning="Hm.", calls=(Call("list_files", {}),)),
        Says("It is there."),
    )
    async with model(*script) as server:
        done = await run(["ask", "--output", "stream-json", "Where?"], environ, project, server)
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [event["type"] for event in events]
    assert [kind for at, kind in enumerate(kinds) if at == 0 or kinds[at - 1] != kind] == [
        "asked",
        "context",
        "waiting",
        "reasoning",
        "text",
        "used",
        "tool_started",
        "tool_finished",
        "waiting",
        "text",
        "used",
        "done",
    ]
    said = "".join(event["text"] for event in events if event["type"] == "text")
    assert said == "Let me look.It is there."
    finished = next(event for event in events if event["type"] == "tool_finished")
    assert (finished["name"], finished["success"], finished["depth"]) == ("list_files", True, 0)
    answer = events[-1]["answer"]
    assert answer["content"] == "It is there."
    assert answer["conversation_id"] == events[0]["conversation_id"]
    assert [call["name"] for call in answer["tool_calls"]] == ["list_files"]


async def test_piped_input_follows_the_question(environ: dict[str, str], project: Path) -> None:
    async with model(Says("Fine.")) as server:
        done = await run(["ask", "Is this right?"], environ, project, server, input="a ```b``` c\n")
        asked = server.asked_in_turns[0].text
    assert done.returncode == 0, done.stderr
    assert "Is this right?\\n\\n````\\na ```b``` c\\n````" in asked


async def test_a_pipe_from_which_nothing_comes_does_not_hold_the_question(
    environ: dict[str, str], project: Path
) -> None:
    reading, writing = os.pipe()
    try:
        async with model(Says("Fine.")) as server:
            done = await run(["ask", "Where?"], environ, project, server, stdin=reading)
    finally:
        os.close(reading)
        os.close(writing)
    assert (done.returncode, done.stdout) == (0, "Fine.\n")
    assert "No input on stdin after" in done.stderr


async def test_the_session_may_be_chosen(environ: dict[str, str], project: Path) -> None:
    async with model(Says("Noted.")) as server:

        async def ask(*options: str) -> dict[str, Any]:
            done = await run(["ask", "--json", *options, "One?"], environ, project, server)
            assert done.returncode == 0, done.stderr
            return dict(json.loads(done.stdout))

        first = await ask()
        second = await ask("--new")
        third = await ask("--session", first["conversation_id"][:8])
        fourth = await ask("-c")
        both = await run(["ask", "-c", "--new", "One?"], environ, project, server)
        unknown = await run(["ask", "--session", "zz", "One?"], environ, project, server)
    assert second["conversation_id"] != first["conversation_id"]
    assert third["conversation_id"] == fourth["conversation_id"] == first["conversation_id"]
    assert (third["turn_index"], fourth["turn_index"]) == (1, 2)
    assert (both.returncode, unknown.returncode) == (2, 1)


@pytest.mark.parametrize("yes", [False, True])
async def test_without_a_terminal_only_edits_are_allowed_and_only_with_yes(
    environ: dict[str, str], project: Path, yes: bool
) -> None:
    async with model(Says(calls=(EDIT, COMMAND)), Says("Done.")) as server:
        options = ["--yes"] if yes else []
        done = await run(["ask", *options, "Make it"], environ, project, server)
        told = server.asked_in_turns[-1].text
    assert (done.returncode, done.stdout) == (0, "Done.\n")
    assert (project / "made.txt").exists() == yes
    assert not (project / "run.txt").exists()
    assert "No one can approve this" in told


async def test_an_answer_that_is_cut_off_is_shown_and_ends_with_3(
    environ: dict[str, str], project: Path
) -> None:
    script = (Says("First.", calls=(Call("list_files", {}),)), Fails(400, "no more"))
    async with model(*script) as server:
        done = await run(["ask", "Where?"], environ, project, server)
    assert done.returncode == 3
    assert done.stdout == "First.\n"
    assert "no more" in done.stderr

    async with model(Breaks(Says("Half an answer"), after=4)) as server:
        again = await run(["ask", "--new", "--json", "Where?"], environ, project, server)
    assert again.returncode == 3
    assert json.loads(again.stdout)["stopped"] == "failed"


async def test_a_provider_that_is_not_there_is_named_and_ends_with_3(
    environ: dict[str, str], project: Path
) -> None:
    own = {
        **environ,
        "RAGFORGE_LLM__MODEL": "openai:gpt-4o-mini",
        "RAGFORGE_LLM__BASE_URL": "http://127.0.0.1:9/v1",
    }
    done = await asyncio.to_thread(run_module, "ragforge", "ask", "Why?", cwd=project, env=own)
    assert done.returncode == 3
    assert "openai:gpt-4o-mini at http://127.0.0.1:9 cannot be reached" in done.stderr


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        (EndsEarly(Says("Half an answer"), after=3), "Half an an"),
        (EndsEarly(Says("Half an answer"), after=3, odd=b"data: [7]\n\n"), "Half an an"),
        (Says(calls=(Call("list_files", {}),)), ""),
    ],
    ids=["no reason for the end", "odd chunk", "one call for ever"],
)
async def test_an_incomplete_answer_is_kept_and_ends_with_3(
    environ: dict[str, str], project: Path, step: Step, shown: str
) -> None:
    async with model(step) as server:
        done = await run(["ask", "--json", "Where?"], environ, project, server)
        assert done.returncode == 3, done.stderr
        answer = json.loads(done.stdout)
        assert answer["content"] == shown
        assert answer["problem"]
        assert answer["stopped"] == "failed"
        assert len(server.asked_in_turns) <= 6
    kept = await read_stored(environ)
    assert kept[-1].startswith("The answer broke off.")
    assert shown in kept


def _read_said(printed: Path) -> str:
    """Return what a model has said so far, of the events that were printed."""
    events = [json.loads(line) for line in printed.read_text().split("\n")[:-1]]
    return "".join(event["text"] for event in events if event["type"] == "text")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["SIGTERM", "SIGHUP"])
async def test_a_signal_that_ends_it_keeps_what_was_said(
    environ: dict[str, str], project: Path, tmp_path: Path, number: int
) -> None:
    holds = Holds(Says("Half an answer"), after=3)
    async with model(holds, Says("Whole.")) as server:
        own = {
            **environ,
            "RAGFORGE_LLM__MODEL": f"openai:{server.wire.model}",
            "RAGFORGE_LLM__BASE_URL": server.base_url,
        }
        printed = tmp_path / "events"
        command = ["ask", "--output", "stream-json", "Where?"]
        asking = await asyncio.to_thread(start, command, own, project, printed)
        while _read_said(printed) != "Half an an":  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        os.kill(asking.pid, number)
        assert await asyncio.to_thread(asking.wait) == 128 + number
    assert await read_stored(environ) == ["Where?", "Half an an", "Interrupted by the user."]
