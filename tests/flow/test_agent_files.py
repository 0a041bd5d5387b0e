"""Agents that users wrote as files, in whole turns over real HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge.permissions import PermissionRequest, Verdict
from tests.fakes.http_server import Asked
from tests.fakes.talking import call, talking
from tests.fakes.trust import trust_folder
from tests.fakes.wires import Says

CODE = "def lease_seconds():\n    return 60\n"
WRITE = call("write_file", "call-9", path="leases.py", content="x = 1\n")
TOUCH = call("run_command", "call-8", command="touch made.txt")
READ = call("read_file", "call-7", path="leases.py")


@pytest.fixture
def project(project: Path) -> Path:
    (project / "leases.py").write_text(CODE)
    return project


def write_agent(folder: Path, name: str, header: str = "", text: str = "Be brief.") -> None:
    (folder / "agents").mkdir(parents=True, exist_ok=True)
    (folder / "agents" / f"{name}.md").write_text(f"---\n{header}\n---\n{text}\n")


def own(environ: dict[str, str]) -> Path:
    return Path(environ["RAGFORGE_AGENT__PROMPTS_DIR"])


def tools_of(asked: Asked) -> set[str]:
    return {tool["function"]["name"] for tool in asked.body["tools"]}


def results_of(asked: Asked) -> list[str]:
    return [one["content"] for one in asked.body["messages"] if one["role"] == "tool"]


def delegate(agent: str, id: str = "call-1") -> Says:
    return Says(calls=(call("delegate", id, task="Do it", agent=agent),))


async def allow(request: PermissionRequest) -> Verdict:
    return Verdict("once")


async def test_an_agent_has_its_prompt_and_only_its_tools(
    environ: dict[str, str], project: Path
) -> None:
    header = "description: Reviews code\ntools: [read_file, grep_*, edit_file]"
    write_agent(own(environ), "review", header, "Look for leases.")
    script = [delegate("review"), Says("All is well."), Says("Done.")]
    async with talking(environ, project, script) as (agent, server):
        conversation = await agent.create_conversation()
        await conversation.send_message("Review it")
        first, second, third = server.asked_in_turns

    [offered] = [t for t in first.body["tools"] if t["function"]["name"] == "delegate"]
    assert "- review: Reviews code" in offered["function"]["description"]
    assert "Look for leases." in second.body["messages"][0]["content"]
    assert tools_of(second) == {"read_file", "grep_files"}  # it only reads, by default
    assert "All is well." in results_of(third)[0]


async def test_an_agent_that_asks_changes_files_with_permission(
    environ: dict[str, str], project: Path
) -> None:
    write_agent(own(environ), "mender", "tools: write_file run_command\nmode: ask")
    asked: list[str] = []

    async def answer(request: PermissionRequest) -> Verdict:
        asked.append(request.action)
        return Verdict("once" if request.action == "edit_file" else "deny")

    script = [delegate("mender"), Says(calls=(WRITE, TOUCH)), Says("Half."), Says("Done.")]
    async with talking(environ, project, script) as (agent, _):
        conversation = await agent.create_conversation()
        told = await conversation.send_message("Mend it", approve=answer)
        await agent.app.undo(conversation.id)

    assert asked == ["edit_file", "run_command"]
    assert not (project / "made.txt").exists()
    [made] = told.tool_calls
    assert made.result is not None
    assert isinstance(made.result.result, dict)
    assert made.result.result["changes"][0]["file"] == "leases.py"
    assert (project / "leases.py").read_text() == CODE


@pytest.mark.parametrize("mode", ["ask", "plan"])
async def test_an_agent_never_has_more_rights_than_the_session(
    environ: dict[str, str], project: Path, mode: str
) -> None:
    write_agent(project / ".ragforge", "eager", "mode: accept-edits")
    trust_folder(project, Path(environ["RAGFORGE_AGENT__STATE_DIR"]))
    script = [delegate("eager"), Says(calls=(WRITE,)), Says("I cannot."), Says("Done.")]
    async with talking(environ, project, script) as (agent, _):
        conversation = await agent.create_conversation()
        await conversation.send_message("Mend it", mode=mode)  # type: ignore[arg-type]

    assert (project / "leases.py").read_text() == CODE


async def test_where_the_session_accepts_edits_an_agent_may_still_only_read(
    environ: dict[str, str], project: Path
) -> None:
    write_agent(own(environ), "reader", "mode: plan")
    script = [delegate("reader"), Says(calls=(WRITE, TOUCH)), Says("I cannot."), Says("Done.")]
    async with talking(environ, project, script) as (agent, server):
        conversation = await agent.create_conversation()
        await conversation.send_message("Mend it", approve=allow, mode="accept-edits")

    assert (project / "leases.py").read_text() == CODE
    assert not (project / "made.txt").exists()
    assert "There is no tool 'write_file'" in results_of(server.asked_in_turns[2])[0]


async def test_agents_of_an_untrusted_folder_do_not_exist(
    environ: dict[str, str], project: Path
) -> None:
    write_agent(project / ".ragforge", "eager", "mode: accept-edits")
    async with talking(environ, project, [delegate("eager"), Says("Done.")]) as (agent, server):
        conversation = await agent.create_conversation()
        await conversation.send_message("Mend it")
        first, second = server.asked_in_turns

    assert "eager" not in str(first.body["tools"])
    assert "delegate has no argument 'agent'" in results_of(second)[0]


async def test_an_agent_with_a_wrong_header_says_why_it_cannot_be_used(
    environ: dict[str, str], project: Path
) -> None:
    write_agent(own(environ), "odd", "mode: yolo")
    write_agent(project / ".ragforge", "theirs", "model: openai:other")
    trust_folder(project, Path(environ["RAGFORGE_AGENT__STATE_DIR"]))
    calls = (*delegate("odd").calls, *delegate("theirs", "call-2").calls)
    async with talking(environ, project, [Says(calls=calls), Says("Done.")]) as (agent, server):
        conversation = await agent.create_conversation()
        await conversation.send_message("Mend it")
        odd, theirs = results_of(server.asked_in_turns[1])

    assert "The agent odd cannot be used: 'yolo' is not a mode" in odd
    assert "a project's agent cannot choose a model" in theirs


async def test_an_agent_of_the_user_can_have_another_model(
    environ: dict[str, str], project: Path
) -> None:
    write_agent(own(environ), "cheap", "model: openai:small-one")
    script = [delegate("cheap"), Says("Cheap."), Says("Done.")]
    async with talking(environ, project, script) as (agent, server):
        conversation = await agent.create_conversation()
        answer = await conversation.send_message("Look at it")
        models = [asked.body["model"] for asked in server.asked_in_turns]

    assert models[1] == "small-one"
    assert models[0] == models[2] != "small-one"
    assert answer.usage.requests == 3


async def test_sub_agents_stop_when_their_budget_is_used_up(
    environ: dict[str, str], project: Path
) -> None:
    environ["RAGFORGE_AGENT__SUB_AGENTS__MAX_CALLS"] = "1"
    write_agent(own(environ), "reader")
    calls = delegate("reader").calls
    script = [Says(calls=calls), Says(calls=(READ,)), Says(calls=calls), Says("Done.")]
    async with talking(environ, project, script) as (agent, server):
        conversation = await agent.create_conversation()
        answer = await conversation.send_message("Look at it")
        first, second = results_of(server.asked_in_turns[-1])

    assert "It broke off: The sub-agents of this turn have used their 1 calls" in first
    assert "Error: The sub-agents of this turn have used their 1 calls" in second
    assert answer.content == "Done."
