"""A program's own functions, called by the model in whole turns, on every engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge import ConversationAgent, ask, load_settings
from ragforge.errors import InputError
from tests.fakes.chat_server import ChatServer
from tests.fakes.talking import TITLE, call, with_model
from tests.fakes.wires import OpenAiWire, Says


async def deployed(service: str) -> dict[str, str]:
    """Tell which version of a service is live."""
    if service != "shop":
        raise LookupError(f"no service {service}")
    return {"version": "2.7.1"}


def list_files() -> list[str]:
    """List what this program calls files."""
    return ["only-this.txt"]


async def test_a_function_is_called_and_its_result_is_returned_and_remembered(
    environ: dict[str, str], project: Path
) -> None:
    script = [
        Says(calls=(call("deployed", service="shop"), call("deployed", service="shed"))),
        Says("Version 2.7.1."),
    ]
    async with ChatServer(OpenAiWire(), script, aside=TITLE) as server:
        settings = load_settings(project, environ=with_model(environ, server)).settings
        async with await ConversationAgent.open(settings, project, tools=[deployed]) as agent:
            conversation = await agent.create_conversation()
            answer = await conversation.send_message("Which version is live?")
            well, badly = sorted(
                await conversation.get_tool_calls(), key=lambda one: not one.success
            )
            [hit, *_] = await conversation.search_history("2.7.1")

    assert answer.content == "Version 2.7.1."
    assert "no service shed" in server.asked_in_turns[-1].text
    assert (well.tool_name, well.arguments) == ("deployed", {"service": "shop"})
    assert well.result is not None
    assert well.result.result == {"version": "2.7.1"}
    assert badly.result is not None
    assert badly.result.error == "LookupError: no service shed"
    assert hit.type == "turn"


async def test_a_function_takes_the_place_of_a_tool_with_its_name(
    environ: dict[str, str], project: Path
) -> None:
    script = [Says(calls=(call("list_files"),)), Says("One.")]
    async with ChatServer(OpenAiWire(), script, aside=TITLE) as server:
        settings = load_settings(project, environ=with_model(environ, server)).settings
        answer = await ask("Which files are there?", project, settings, tools=[list_files])

    [used] = answer.tool_calls
    assert used.result is not None
    assert used.result.result == ["only-this.txt"]
    offered = [tool["function"]["name"] for tool in server.asked_in_turns[0].body["tools"]]
    assert offered.count("list_files") == 1


async def test_functions_that_cannot_be_tools_are_refused_before_anything_is_opened(
    environ: dict[str, str], project: Path
) -> None:
    settings = load_settings(project, environ=environ).settings

    with pytest.raises(InputError, match="Two tools are called deployed"):
        await ConversationAgent.open(settings, project, tools=[deployed, deployed])
    with pytest.raises(InputError, match="cannot be the name of a tool"):
        await ConversationAgent.open(settings, project, tools=[lambda: 1])
