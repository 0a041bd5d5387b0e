"""RagForge as the agent of an editor, with the official SDK as the client."""

from __future__ import annotations

import asyncio
import base64
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ragforge import load_settings, open_app
from tests.fakes.chat_server import ChatServer, Fails, Holds
from tests.fakes.editor import open_editor
from tests.fakes.remembered_shop import make_environ
from tests.fakes.talking import TITLE, call, with_model
from tests.fakes.wires import OpenAiWire, Says

CODE = "def lease_seconds():\n    return 60\n"
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(60)).decode()
EDIT = {"path": "leases.py", "old_text": "return 60", "new_text": "return 90"}


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    commands = tmp_path / "prompts" / "commands"
    commands.mkdir(parents=True)
    (commands / "explain.md").write_text(
        "---\ndescription: Explain a file\nargument-hint: FILE\n---\nExplain $ARGUMENTS briefly.\n"
    )
    return {
        **make_environ(tmp_path),
        "RAGFORGE_JOBS__DETACH": "false",
        "RAGFORGE_AGENT__CONTEXT__PLAN_BY": "rules",
        "RAGFORGE_AGENT__PROMPTS_DIR": str(tmp_path / "prompts"),
        "PATH": "/usr/bin:/bin",
    }


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    subprocess.run(["git", "init", "-q", folder], check=True)
    (folder / "leases.py").write_text(CODE)
    return folder


def say(text: str) -> list[Any]:
    sdk = pytest.importorskip("acp")
    return [sdk.text_block(text)]


async def expect_sentences(agent: Any, session: str, project: Path) -> None:
    """Do what goes wrong, with a model whose key is wrong, and read why."""
    with pytest.raises(Exception, match="key"):
        await agent.prompt(session_id=session, prompt=say("How long is a lease?"))
    with pytest.raises(Exception, match="is not a folder on this machine"):
        await agent.new_session(cwd=str(project / "nowhere"))
    with pytest.raises(Exception, match="No conversation 'unknown'"):
        await agent.load_session(cwd=str(project), session_id="unknown")
    with pytest.raises(Exception, match="'yolo' is not a mode"):
        await agent.set_session_mode(session_id=session, mode_id="yolo")


async def test_an_editor_sees_turns_and_allows_one_edit_and_rejects_another_and_reads_errors(
    environ: dict[str, str], project: Path
) -> None:
    script = [
        Says("I look. ", calls=(call("read_file", path="leases.py", start_line=2),)),
        Says("Sixty seconds.", reasoning="It returns 60."),
        Says(calls=(call("edit_file", **EDIT),)),
        Says("Now ninety."),
        Says(calls=(call("write_file", path="new.py", content="x = 1\n"),)),
        Says("As you like."),
        Says(calls=(call("edit_file", path="leases.py", old_text="90", new_text="30"),)),
        Says("Now thirty."),
        Fails(401, "this key is wrong"),
        Holds(Says("It takes thirty seconds"), after=4),
    ]
    async with (
        ChatServer(OpenAiWire(), script, aside=TITLE) as server,
        open_editor(with_model(environ, server)) as (editor, agent),
    ):
        opened = await agent.new_session(cwd=str(project))
        session = opened.session_id
        assert [one.id for one in opened.modes.available_modes][:3] == [
            "ask",
            "plan",
            "accept-edits",  # then auto, if there is a sandbox
        ]
        await editor.wait_for("available_commands_update")
        offered = editor.list("available_commands_update")[0].available_commands
        assert [one.name for one in offered] == ["retry", "undo", "explain"]
        assert (await agent.list_sessions(cwd=str(project))).sessions == []

        await agent.prompt(session_id=session, prompt=say("/explain leases.py"))
        assert "Explain leases.py briefly." in server.asked_in_turns[0].text
        assert editor.read() == "I look. Sixty seconds."
        assert editor.read("agent_thought_chunk") == "It returns 60."
        [started] = editor.list("tool_call")
        assert (started.kind, started.title) == ("read", "read_file leases.py")
        [place] = started.locations
        assert (place.path, place.line) == (str(project / "leases.py"), 2)
        [finished] = editor.list("tool_call_update")
        assert (finished.tool_call_id, finished.status) == (started.tool_call_id, "completed")
        assert "return 60" in finished.content[0].content.text

        editor.choices = ["allow_once", "reject_once"]
        await agent.prompt(session_id=session, prompt=say("Make it ninety."))
        assert (project / "leases.py").read_text() == CODE.replace("60", "90")
        [(asked, options)] = editor.requests
        assert asked.tool_call_id == editor.list("tool_call")[1].tool_call_id
        assert [one.kind for one in options] == [
            "allow_once",
            "allow_always",
            "reject_once",
        ]
        assert (asked.content[0].old_text, asked.content[0].new_text) == (
            CODE,
            CODE.replace("60", "90"),
        )
        edited = editor.list("tool_call_update")[1]
        assert (edited.status, edited.content[0].path) == (
            "completed",
            str(project / "leases.py"),
        )

        await agent.prompt(session_id=session, prompt=say("Make a new file."))
        assert not (project / "new.py").exists()
        assert editor.requests[1][0].content[0].new_text == "x = 1\n"
        assert editor.list("tool_call_update")[2].status == "failed"
        assert "The user declined this." in server.asked_in_turns[5].text

        await agent.set_session_mode(session_id=session, mode_id="accept-edits")
        await agent.prompt(session_id=session, prompt=say("Make it thirty."))
        assert (project / "leases.py").read_text() == CODE.replace("60", "30")
        assert len(editor.requests) == 2
        listed = (await agent.list_sessions(cwd=str(project))).sessions
        assert [(one.session_id, one.cwd) for one in listed] == [(session, str(project))]

        await expect_sentences(agent, session, project)

        leaving = asyncio.create_task(agent.prompt(session_id=session, prompt=say("And now?")))
        await editor.wait_for("agent_message_chunk", "It ta")
    with suppress(Exception):  # the editor has left
        await leaving
    settings = load_settings(project, environ=environ).settings
    async with open_app(settings, project, work=False) as app:
        [last] = await app.sessions.latest_turns(await app.sessions.load(session), 1)
    assert last.user.content == "And now?"
    assert any("It ta" in reply.content for reply in last.replies)


async def test_a_cancelled_turn_is_kept_and_loaded_and_unsaved_text_is_read_and_edited(
    environ: dict[str, str], project: Path
) -> None:
    script = [
        Says(calls=(call("read_file", path="leases.py"),)),
        Holds(Says("It takes sixty seconds, and then it"), after=4),
        Says("Sixty."),
        Says("Still sixty."),
        Says(calls=(call("edit_file", **EDIT),)),
        Says(calls=(call("read_file", path="leases.py"),)),
        Says(calls=(call("edit_file", path="leases.py", old_text="70", new_text="'80'"),)),
        Says("Eighty."),
    ]
    async with (
        ChatServer(OpenAiWire(), script, aside=TITLE) as server,
        open_editor(with_model(environ, server), with_files=True) as (editor, agent),
    ):
        session = (await agent.new_session(cwd=str(project))).session_id
        turn = asyncio.create_task(
            agent.prompt(session_id=session, prompt=say("How long is a lease?"))
        )
        await editor.wait_for("agent_message_chunk", "It ta")
        with pytest.raises(Exception, match="still answering"):
            await agent.prompt(session_id=session, prompt=say("And now?"))
        await agent.cancel(session_id=session)
        assert (await turn).stop_reason == "cancelled"
        await agent.close_session(session_id=session)
        with pytest.raises(Exception, match="Load it first"):
            await agent.prompt(session_id=session, prompt=say("And now?"))

        editor.updates.clear()
        await agent.load_session(cwd=str(project), session_id=session)
        assert editor.read("user_message_chunk") == "How long is a lease?"
        assert "It ta" in editor.read()
        [shown] = editor.list("tool_call")
        assert (shown.status, shown.kind) == ("completed", "read")
        await agent.prompt(session_id=session, prompt=say("Go on."))
        assert "It ta" in server.asked_in_turns[2].text
        assert editor.read().endswith("Sixty.")

        fork = (await agent.fork_session(cwd=str(project), session_id=session)).session_id
        assert fork != session
        await agent.prompt(session_id=fork, prompt=say("Are you sure?"))
        assert "Go on." in server.asked_in_turns[3].text
        assert len((await agent.list_sessions(cwd=str(project))).sessions) == 2

        editor.choices = ["wait"]
        turn = asyncio.create_task(agent.prompt(session_id=fork, prompt=say("Make it ninety.")))
        await editor.wait_for_request()
        await agent.cancel(session_id=fork)
        assert (await turn).stop_reason == "cancelled"
        assert editor.list("tool_call_update")[-1].status == "failed"
        file = project / "leases.py"
        assert file.read_text() == CODE
        editor.requests.clear()

        editor.unsaved[str(file)] = CODE.replace("60", "70")  # typed, and not saved
        editor.choices = ["allow_once"]
        await agent.prompt(session_id=fork, prompt=say("Make it eighty."))
        assert "return 70" in server.asked_in_turns[6].text
        [change] = editor.requests[0][0].content
        assert "return 70" in change.old_text
        assert editor.written == [str(file)]
        assert file.read_text() == CODE.replace("60", '"80"')
        await agent.prompt(session_id=fork, prompt=say("/undo"))
        assert editor.read().endswith("leases.py is as it was before.")
        assert file.read_text() == CODE.replace("60", "70")
        assert 'return \\\\\\"80' in server.asked_in_turns[7].text  # as the editor formatted it


async def test_an_editor_asks_about_a_folder_shows_notices_and_passes_images_and_servers(
    environ: dict[str, str], project: Path
) -> None:
    schema = pytest.importorskip("acp.schema")
    fake = pytest.importorskip("tests.fakes.mcp_server", reason="the package mcp is not installed")
    (project / "AGENTS.md").write_text("Answer in verse.\n")
    prompts = project / ".ragforge" / "commands"
    prompts.mkdir(parents=True)
    (prompts / "rhyme.md").write_text("---\ndescription: Rhyme\n---\nRhyme.\n")
    script = [
        Fails(503, "overloaded"),
        Says(calls=(call("My-weather__forecast", city="Oslo"),)),
        Says("It rains in Oslo, they say."),
        Says("Quite so."),
    ]
    more = {"RAGFORGE_MCP__WAIT_SECONDS": "120", "RAGFORGE_MCP__CONNECT_SECONDS": "120"}
    sent: list[Any] = []
    async with (
        fake.serve_http(sent) as url,
        ChatServer(OpenAiWire(), script, aside=TITLE) as server,
        open_editor(with_model({**environ, **more}, server)) as (editor, agent),
    ):
        key = schema.HttpHeader(name="X-Key", value="secret")
        weather = schema.HttpMcpServer(name="My weather", url=url, headers=[key], type="http")
        events = schema.SseMcpServer(name="events", url=url, headers=[], type="sse")
        opened = await agent.new_session(cwd=str(project), mcp_servers=[weather, events])
        session = opened.session_id

        editor.choices = ["allow_always", "allow_once"]
        image = schema.ImageContentBlock(type="image", data=PIXEL, mime_type="image/png")
        await agent.prompt(session_id=session, prompt=[*say("What is this? "), image])

        (asked, options), (used, _) = editor.requests
        assert asked.title == "Trust this folder?"
        assert "instructions that the model would follow" in asked.content[0].content.text
        assert [one.kind for one in options] == ["allow_always", "reject_always"]
        assert used.title == "Call My-weather__forecast"
        assert used.tool_call_id == editor.list("tool_call")[0].tool_call_id
        assert any(one.get("x-key") == "secret" for one in sent)
        first = server.asked_in_turns[0].text
        assert "Answer in verse." in first
        assert PIXEL in first
        assert "What is this? [image 1]" in first
        assert "It rains in Oslo." in server.asked_in_turns[2].text
        assert "overloaded. Attempt 2 of 5 follows in" in editor.read("agent_thought_chunk")
        assert "The MCP server events does not answer" in editor.read()
        assert editor.read().endswith("It rains in Oslo, they say.")
        offered = editor.list("available_commands_update")[-1].available_commands
        assert "rhyme" in [one.name for one in offered]

        again = (await agent.new_session(cwd=str(project))).session_id
        await agent.prompt(session_id=again, prompt=say("Is that so?"))
        assert len(editor.requests) == 2
