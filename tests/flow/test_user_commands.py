"""Custom commands and background commands, in whole turns, over real HTTP."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from ragforge.errors import InputError
from ragforge.permissions import PermissionRequest, Verdict
from tests.fakes.talking import call, talking
from tests.fakes.wires import Says

SECRET = "sk-proj-" + "Zx81kQw93LmT7vBn25RyUe46"
SERVER = "echo $$ > pid.txt; echo ready; sleep 600"


@pytest.fixture
def environ(environ: dict[str, str]) -> dict[str, str]:
    return environ | {"RAGFORGE_TOOLS__SANDBOX": "off"}  # the ids of processes are those outside


async def allow(request: PermissionRequest) -> Verdict:
    return Verdict("once")


async def test_what_a_command_printed_reaches_the_model_without_secrets_and_not_too_long(
    environ: dict[str, str], project: Path
) -> None:
    printed: list[str] = []
    line = f"echo OPENAI_API_KEY={SECRET}; seq 1 200000; exit 7"
    async with talking(environ, project, [Says("I see.")]) as (agent, server):
        conversation = await agent.create_conversation()
        result = await agent.app.run_command(line, conversation.id, printed.append)
        await conversation.send_message("What was that?")
        [asked] = server.asked_in_turns
        stored = await conversation.get_history()
        with pytest.raises(InputError, match="is already answered"):
            await conversation.retry()
        with pytest.raises(InputError, match="Write a command after the !"):
            await agent.app.run_command("  ", conversation.id)

    assert (result.exit_code, result.truncated) == (7, True)
    assert SECRET in "".join(printed)
    assert "200000" in "".join(printed)
    assert [one.role for one in stored] == ["user", "assistant", "assistant", "user", "assistant"]
    assert stored[0].content.startswith("!echo OPENAI_API_KEY=")
    [user, called, result_message, *_] = asked.body["messages"][1:]
    assert user["content"].startswith("!echo")
    assert called["tool_calls"][0]["function"]["name"] == "run_command"
    assert "199999" in result_message["content"]
    assert len(result_message["content"]) < 100_000
    assert "It ended with exit code 7." in asked.text
    assert SECRET not in asked.text
    assert SECRET not in "".join(one.content for one in stored)


async def test_a_background_command_needs_a_yes_is_read_and_ends_with_the_program(
    environ: dict[str, str], project: Path
) -> None:
    asked_for: list[str] = []

    async def approve(request: PermissionRequest) -> Verdict:
        asked_for.append(request.preview)
        return Verdict("once")

    script = [
        Says(calls=(call("run_command", command=SERVER, background=True),)),
        Says(calls=(call("command_output", "call-2", id=1, wait=60),)),
        Says("It is up."),
        Says(calls=(call("command_output", "call-3", id=2),)),
        Says("There is none."),
    ]
    async with talking(environ, project, script) as (agent, server):
        conversation = await agent.create_conversation()
        await conversation.send_message("Start it", approve=approve)
        await conversation.send_message("And the other?", approve=approve)
        process = int((project / "pid.txt").read_text())
        assert agent.app.background.count_running() == 1
        os.kill(process, 0)
        results = [
            one["content"]
            for one in server.asked_in_turns[-1].body["messages"]
            if one["role"] == "tool"
        ]

    assert len(asked_for) == 1
    assert "(in the background; no sandbox" in asked_for[0]
    assert '"running": true' in results[0] or '"running":true' in results[0]
    assert "ready" in results[1]
    assert "There is no background command 2. There are: 1." in results[2]
    await asyncio.sleep(0)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


async def test_in_plan_mode_nothing_starts_in_the_background(
    environ: dict[str, str], project: Path
) -> None:
    (project / "notes.txt").write_text("x\n")
    look = call("run_command", command="cat notes.txt", background=True)
    async with talking(environ, project, [Says(calls=(look,)), Says("A plan.")]) as (agent, _):
        conversation = await agent.create_conversation()
        answer = await conversation.send_message("Look", approve=allow, mode="plan")
        assert agent.app.background.all() == []
    result = answer.tool_calls[0].result
    assert result is not None
    assert "Plan mode is on" in (result.error or "")
