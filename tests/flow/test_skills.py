"""Skills in whole turns: named in the request, read when they are wanted, trusted first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.http_server import Asked
from tests.fakes.talking import call, talking
from tests.fakes.trust import trust_folder
from tests.fakes.wires import Says

SKILL = "---\nname: release\ndescription: How we release\n---\n\nTag it, then announce it.\n"


@pytest.fixture
def project(project: Path) -> Path:
    folder = project / ".ragforge" / "skills" / "release"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    return project


def tools_of(asked: Asked) -> set[str]:
    return {tool["function"]["name"] for tool in asked.body["tools"]}


async def test_a_skill_is_named_in_the_request_and_read_by_a_tool(
    environ: dict[str, str], project: Path
) -> None:
    trust_folder(project, Path(environ["RAGFORGE_AGENT__STATE_DIR"]))
    script = [Says(calls=(call("read_skill", name="release"),)), Says("Tagged.")]
    async with talking(environ, project, script) as (agent, server):
        conversation = await agent.create_conversation()
        await conversation.send_message("Release it", mode="plan")
        first, second = server.asked_in_turns

    system = first.body["messages"][0]["content"]
    assert "- release: How we release" in system
    assert "then announce it" not in first.text
    assert "read_skill" in tools_of(first)
    assert "Tag it, then announce it." in second.body["messages"][-1]["content"]


async def test_a_skill_of_an_untrusted_folder_is_not_there(
    environ: dict[str, str], project: Path
) -> None:
    async with talking(environ, project, [Says("I do not know how.")]) as (agent, server):
        conversation = await agent.create_conversation()
        await conversation.send_message("Release it")
        [asked] = server.asked_in_turns

    assert "How we release" not in asked.text
    assert "read_skill" not in tools_of(asked)


async def test_the_users_own_skills_need_no_trust(environ: dict[str, str], project: Path) -> None:
    own = Path(environ["RAGFORGE_AGENT__PROMPTS_DIR"]) / "skills" / "style"
    own.mkdir(parents=True)
    (own / "SKILL.md").write_text("---\ndescription: How I write\n---\nShort words.\n")
    async with talking(environ, project, [Says("Fine.")]) as (agent, server):
        conversation = await agent.create_conversation()
        await conversation.send_message("Write it")
        [asked] = server.asked_in_turns

    assert "- style: How I write" in asked.text
    assert "Short words." not in asked.text
