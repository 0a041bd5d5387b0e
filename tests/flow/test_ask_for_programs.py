"""`ragforge ask` for programs: messages in a stream, limits, permissions and schemas."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ragforge.agent.rules import PermissionRules, make_rule
from tests.fakes.chat_server import ChatServer, Step
from tests.fakes.wires import WIRES, Call, OpenAiWire, Says, Wire
from tests.fakes.zygote import run_module

EDIT = Call("write_file", {"path": "made.txt", "content": "made\n"}, "call-1")
COMMAND = Call("run_command", {"command": "touch run.txt"}, "call-2")
STREAM = ("ask", "--input", "stream-json", "--output", "stream-json")
SCHEMA = {
    "type": "object",
    "properties": {"files": {"type": "array", "items": {"type": "string"}}},
    "required": ["files"],
    "additionalProperties": False,
}


@pytest.fixture
def engine() -> str:
    return "sqlite"


@pytest.fixture
def environ(environ: dict[str, str], tmp_path: Path) -> dict[str, str]:
    keys = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), "sk-none")
    return environ | keys | {"RAGFORGE_AGENT__STATE_DIR": str(tmp_path / "state")}


def model(*script: Step, wire: Wire | None = None) -> ChatServer:
    return ChatServer(wire or OpenAiWire(), script, aside=Says('{"title": "A title"}'))


def add_model(environ: dict[str, str], server: ChatServer) -> dict[str, str]:
    return environ | {
        "RAGFORGE_LLM__MODEL": f"{server.wire.provider}:{server.wire.model}",
        "RAGFORGE_LLM__BASE_URL": server.base_url,
    }


async def run(
    arguments: Iterable[str],
    environ: dict[str, str],
    project: Path,
    server: ChatServer,
    given: str = "",
) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(
        run_module,
        "ragforge",
        *arguments,
        cwd=project,
        env=add_model(environ, server),
        input=given,
    )


def encode(*lines: object) -> str:
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def read_events(printed: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in printed.splitlines()]


def select(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == kind]


class Program:
    """A program that talks with `ragforge ask` through its pipes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    def send(self, line: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(encode(line).encode())

    async def wait_for(self, kind: str) -> dict[str, Any]:
        """Return the next event of a kind."""
        assert self.process.stdout is not None
        while True:
            line = await self.process.stdout.readline()
            assert line, f"it ended before {kind}"
            event: dict[str, Any] = json.loads(line)
            if event["type"] == kind:
                return event

    async def end(self) -> int:
        """Close its input, and return its exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        await self.process.communicate()
        assert self.process.returncode is not None
        return self.process.returncode


@asynccontextmanager
async def talking(
    environ: dict[str, str], project: Path, server: ChatServer, *options: str
) -> AsyncIterator[Program]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "ragforge", *STREAM, *options),
        cwd=project,
        env=add_model(environ, server) | {"PATH": os.environ["PATH"]},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=10_000_000,
    )
    try:
        yield Program(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def test_messages_of_a_program_are_answered_one_after_the_other_in_one_session(
    environ: dict[str, str], project: Path
) -> None:
    async with model(Says("One."), Says("Two.")) as server:
        messages = encode({"type": "user", "text": "First?"}, {"type": "user", "text": "Second?"})
        done = await run((*STREAM, "--new"), environ, project, server, messages)
        second = server.asked_in_turns[1].text
    assert done.returncode == 0, done.stderr
    answers = [event["answer"] for event in select(read_events(done.stdout), "done")]
    assert [answer["content"] for answer in answers] == ["One.", "Two."]
    assert answers[0]["conversation_id"] == answers[1]["conversation_id"]
    assert [answer["turn_index"] for answer in answers] == [0, 1]
    assert "First?" in second


async def test_a_program_answers_permission_requests_and_goes_on(
    environ: dict[str, str], project: Path
) -> None:
    script = (Says(calls=(EDIT,)), Says("Made."), Says(calls=(COMMAND,)), Says("Not run."))
    async with (
        model(*script) as server,
        talking(environ, project, server) as program,
    ):
        program.send({"type": "user", "text": "Make it."})
        asked = await program.wait_for("permission")
        assert (asked["action"], asked["subject"]) == ("edit_file", "made.txt")
        assert "+made" in asked["preview"]
        assert not (project / "made.txt").exists()
        program.send({"type": "permission", "id": asked["id"], "answer": "once"})
        assert (await program.wait_for("done"))["answer"]["content"] == "Made."
        assert (project / "made.txt").read_text() == "made\n"
        program.send({"type": "user", "text": "Run it."})
        asked = await program.wait_for("permission")
        assert asked["subject"] == "touch run.txt"
        no = {"type": "permission", "id": asked["id"], "answer": "deny", "reason": "Not today."}
        program.send(no)
        await program.wait_for("done")
        told = server.asked_in_turns[-1].text
        assert await program.end() == 0
    assert "Not today." in told
    assert not (project / "run.txt").exists()


async def test_a_request_after_the_end_of_the_input_is_declined(
    environ: dict[str, str], project: Path
) -> None:
    async with model(Says(calls=(EDIT,)), Says("Not made.")) as server:
        message = encode({"type": "user", "text": "Make it."})
        done = await run(STREAM, environ, project, server, message)
        told = server.asked_in_turns[-1].text
    assert done.returncode == 0, done.stderr
    assert "The input has ended" in told
    assert not (project / "made.txt").exists()


async def test_lines_that_cannot_be_read_are_named_and_the_others_answered(
    environ: dict[str, str], project: Path
) -> None:
    lines = (
        "{\n",
        encode({"type": "user", "text": "Hello?"}, {"type": "user", "words": "no"}),
        encode({"type": "permission", "id": "permission-9", "answer": "once"}),
    )
    async with model(Says("Here.")) as server:
        done = await run(STREAM, environ, project, server, "\n".join(lines))
    events = read_events(done.stdout)
    assert done.returncode == 1
    assert [event["answer"]["content"] for event in select(events, "done")] == ["Here."]
    problems = [event["message"] for event in select(events, "error")]
    assert [problem.split(" of the input")[0] for problem in problems] == [
        "Line 1",
        "Line 4",
        "Line 6",
    ]
    assert "'permission-9', which is not asked" in problems[2]


async def test_a_stream_of_messages_needs_a_stream_of_events(
    environ: dict[str, str], project: Path
) -> None:
    async with model(Says("No.")) as server:
        for options in (("--output", "json"), ("--output", "stream-json", "Why?")):
            given = ("ask", "--input", "stream-json", *options)
            done = await run(given, environ, project, server)
            assert done.returncode == 2
            assert "--output stream-json" in done.stderr
        assert server.asked == []


async def test_the_model_must_conclude_after_as_many_steps_as_allowed(
    environ: dict[str, str], project: Path
) -> None:
    look = [Says(calls=(Call("list_files", {"path": path}, path),)) for path in (".", "src")]
    async with model(look[0], look[1], Says("That is all.")) as server:
        done = await run(["ask", "--max-turns", "2", "Look."], environ, project, server)
        asked = server.asked_in_turns
    assert (done.returncode, done.stdout) == (0, "That is all.\n")
    assert [one.body.get("tool_choice") for one in asked][-1] == "none"
    assert len(asked) == 3


async def test_listed_tools_are_allowed_and_nothing_that_a_rule_forbids(
    environ: dict[str, str], project: Path, tmp_path: Path
) -> None:
    other = Call("run_command", {"command": "touch other.txt"}, "call-3")
    script = (Says(calls=(EDIT, COMMAND, other)), Says("Done."))
    listed = ("ask", "--allowed-tools", "edit_file,run_command(touch run.txt)", "Make it")
    async with model(*script, *script, *script) as server:
        done = await run(listed, environ, project, server)
        assert (done.returncode, done.stdout) == (0, "Done.\n")
        made = [project / name for name in ("made.txt", "run.txt", "other.txt")]
        assert [path.exists() for path in made] == [True, True, False]
        for path in made[:2]:
            path.unlink()

        await run((*listed, "--mode", "plan"), environ, project, server)
        assert not any(path.exists() for path in made)

        rules = PermissionRules.of(tmp_path / "state", project)
        rules.add(make_rule("deny", "run_command", "touch *"))
        await run(listed, environ, project, server)
        told = server.asked_in_turns[-1].text
    assert [path.exists() for path in made] == [True, False, False]
    assert "A permission rule forbids run_command" in told


async def test_a_list_that_would_allow_everything_is_refused(
    environ: dict[str, str], project: Path
) -> None:
    async with model(Says("No.")) as server:
        for text, why in (("run_command(*)", "every command"), ("everything", "is not a rule")):
            done = await run(["ask", "--allowed-tools", text, "Why?"], environ, project, server)
            assert done.returncode == 2
            assert why in " ".join(done.stderr.split())
        assert server.asked == []


async def test_instructions_follow_the_system_prompt(
    environ: dict[str, str], project: Path, tmp_path: Path
) -> None:
    file = tmp_path / "style.txt"
    file.write_text("Answer in Latin.\n")
    async with model(Says("Ita.")) as server:
        for given in ("Answer in verse.", f"@{file}"):
            options = ["ask", "--append-system-prompt", given, "Is it?"]
            done = await run(options, environ, project, server)
            assert done.returncode == 0, done.stderr
        systems = [one.body["messages"][0]["content"] for one in server.asked_in_turns]
        missing = ["ask", "--append-system-prompt", f"@{tmp_path / 'none'}", "Is it?"]
        done = await run(missing, environ, project, server)
    assert "You are RagForge" in systems[0]
    assert systems[0].endswith("Answer in verse.")
    assert systems[1].endswith("Answer in Latin.\n")
    assert done.returncode == 2
    assert "No such file" in done.stderr


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.provider)
async def test_an_answer_that_does_not_fit_the_schema_is_repaired(
    environ: dict[str, str], project: Path, wire: Wire
) -> None:
    script = (
        Says(calls=(Call("list_files", {}),)),
        Says("There is one file: a.py."),
        Says('{"files": "a.py"}'),
        Says('```json\n{"files": ["a.py"]}\n```'),
    )
    async with model(*script, wire=wire) as server:
        options = ("ask", "--output-schema", json.dumps(SCHEMA), "Which files?")
        done = await run(options, environ, project, server)
        asked = [one.text for one in server.asked_in_turns]
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {"files": ["a.py"]}
    assert "It must be one JSON value that fits this schema" in asked[0]
    assert "the answer is not JSON" in asked[2]
    assert "files must be array, not 'a.py'" in asked[3]


async def test_an_answer_that_never_fits_ends_with_3_and_prints_nothing(
    environ: dict[str, str], project: Path, tmp_path: Path
) -> None:
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(SCHEMA))
    options = ("ask", "--output-schema", str(file))
    async with model(Says('{"file": "a.py"}')) as server:
        done = await run((*options, "Which?"), environ, project, server)
        assert (done.returncode, done.stdout) == (3, "")
        assert "does not fit the schema, after 2 repairs" in done.stderr
        assert "lacks the property 'files'" in done.stderr
        assert len(server.asked_in_turns) == 3
        done = await run((*options, "--json", "Which?"), environ, project, server)
        assert done.returncode == 3
        assert json.loads(done.stdout)["stopped"] == "failed"


async def test_a_schema_that_cannot_be_checked_is_refused_before_a_model_is_asked(
    environ: dict[str, str], project: Path
) -> None:
    wrong = {
        '{"type": "text"}': "'type' in the schema cannot be 'text'",
        '{"if": {}}': "'if' in the schema is not supported",
        '{"type": "array"}': '"type": "object" at its top',
        "{]": "not valid JSON",
        "missing.json": "No such file",
    }
    async with model(Says("{}")) as server:
        for text, why in wrong.items():
            done = await run(["ask", "--output-schema", text, "Which?"], environ, project, server)
            assert done.returncode == 2
            assert why in " ".join(done.stderr.split())
        assert server.asked == []
    done = await asyncio.to_thread(
        run_module,
        *("ragforge", "ask", "--output-schema", '{"type": "object"}', "Which?"),
        cwd=project,
        env=environ,
    )
    assert done.returncode == 1
    assert "No chat model is configured" in done.stderr
