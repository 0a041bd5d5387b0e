"""Modes of a turn: a plan changes nothing, accepted edits need no yes; over real HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge import ask, load_settings
from ragforge.agent.rules import parse_rule
from ragforge.errors import InputError
from ragforge.permissions import PermissionRequest, Verdict
from tests.fakes.chat_server import ChatServer
from tests.fakes.http_server import Asked
from tests.fakes.talking import TITLE, call, talking, with_model
from tests.fakes.wires import OpenAiWire, Says

CODE = "def lease_seconds():\n    return 60\n"
WRITE = call("write_file", "call-1", path="leases.py", content="x = 1\n")
TOUCH = call("run_command", "call-2", command="touch made.txt")
LOOK = call("run_command", "call-3", command="cat leases.py")


@pytest.fixture
def project(project: Path) -> Path:
    (project / "leases.py").write_text(CODE)
    return project


def tools_of(asked: Asked) -> set[str]:
    return {tool["function"]["name"] for tool in asked.body["tools"]}


def results_of(asked: Asked) -> list[str]:
    return [one["content"] for one in asked.body["messages"] if one["role"] == "tool"]


async def allow(request: PermissionRequest) -> Verdict:
    return Verdict("once")


async def test_in_plan_mode_the_model_reads_and_ends_with_a_plan(
    environ: dict[str, str], project: Path
) -> None:
    script = [Says(calls=(LOOK, TOUCH, WRITE)), Says("1. Change leases.py."), Says("Done.")]
    async with talking(environ, project, script) as (agent, server):
        agent.app.rules.add(parse_rule("allow", "run_command(touch *)"))
        conversation = await agent.create_conversation()
        planned = await conversation.send_message("Halve it", approve=allow, mode="plan")
        carried_out = await conversation.send_message("Carry out the plan.", approve=allow)
        first, second, third = server.asked_in_turns

    assert planned.content == "1. Change leases.py."
    assert "Plan mode is on: this turn only reads." in first.body["messages"][-1]["content"]
    assert not tools_of(first) & {"write_file", "edit_file", "remember"}
    assert tools_of(first) >= {"read_file", "grep_files", "run_command", "delegate"}
    looked, touched, written = results_of(second)
    assert "return 60" in looked
    assert "Plan mode is on: nothing is changed" in touched
    assert "There is no tool 'write_file'" in written
    assert not (project / "made.txt").exists()
    assert (project / "leases.py").read_text() == CODE
    # The next turn has the plan before it, all tools, and no word of a mode.
    assert carried_out.content == "Done."
    assert "1. Change leases.py." in third.text
    assert "write_file" in tools_of(third)
    assert "Plan mode is on: this turn only reads." not in third.text


async def test_where_edits_are_accepted_only_commands_are_asked_about(
    environ: dict[str, str], project: Path
) -> None:
    asked: list[str] = []

    async def deny(request: PermissionRequest) -> Verdict:
        asked.append(request.action)
        return Verdict("deny", reason="Not now.")

    async with talking(environ, project, [Says(calls=(WRITE, TOUCH)), Says("Half.")]) as (agent, _):
        conversation = await agent.create_conversation()
        answer = await conversation.send_message("Halve it", approve=deny, mode="accept-edits")

    assert asked == ["run_command"]
    assert [one.success for one in answer.tool_calls] == [True, False]
    assert (project / "leases.py").read_text() == "x = 1\n"
    assert not (project / "made.txt").exists()


async def test_a_function_of_the_program_is_not_part_of_a_plan(
    environ: dict[str, str], project: Path
) -> None:
    def deploy() -> str:
        """Deploy the shop."""
        raise AssertionError("it was called")

    async with ChatServer(OpenAiWire(), [Says("A plan.")], aside=TITLE) as server:
        settings = load_settings(project, environ=with_model(environ, server)).settings
        answer = await ask("Deploy it", project, settings, tools=[deploy], mode="plan")
        [asked] = server.asked_in_turns

    assert answer.content == "A plan."
    assert "deploy" not in tools_of(asked)


async def test_a_mode_that_does_not_exist_is_reported_in_one_sentence(
    environ: dict[str, str], project: Path
) -> None:
    async with talking(environ, project, [Says("Never said.")]) as (agent, _):
        conversation = await agent.create_conversation()
        with pytest.raises(
            InputError, match="'yolo' is not a mode: write ask, plan, accept-edits or auto"
        ):
            await conversation.send_message("Halve it", mode="yolo")  # type: ignore[arg-type]
        assert await conversation.get_history() == []
