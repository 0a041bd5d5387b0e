"""Whole turns in which the model uses tools of MCP servers, over real streams and real HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from ragforge import App, load_settings, open_app
from ragforge.agent.permissions import Verdict, allow_edits
from ragforge.app.features.permission_rules import add_rule
from ragforge.domain.turns import Answer
from ragforge.errors import ServerError
from ragforge.events import Event, Noticed
from ragforge.tools.permission import PermissionRequest
from scripts.mcp_clients import ClientsUnavailable, install_clients
from tests.fakes.chat_server import ChatServer, Step
from tests.fakes.trust import trust_folder
from tests.fakes.wires import WIRES, Call, OpenAiWire, Says, Wire

server = pytest.importorskip(
    "tests.fakes.mcp_server", reason="no MCP client: the package mcp is not installed"
)

PROGRAM = re.compile(r"mcp[-_]server")
TITLE = Says('{"title": "Weather"}')
FORECAST = Call("weather__forecast", {"city": "Rome\nand Oslo"}, "call-1")
ASK = (Says("Let me ask.", calls=(FORECAST,)), Says("Take an umbrella."))


@pytest.fixture
def engine() -> str:
    return "sqlite"  # servers know nothing of stores


@asynccontextmanager
async def opened(
    environ: Mapping[str, str],
    project: Path,
    servers: Mapping[str, object],
    script: Sequence[Step] = ASK,
    wire: Wire | None = None,
    **more: str,
) -> AsyncIterator[tuple[App, ChatServer]]:
    async with ChatServer(wire or OpenAiWire(), script, aside=TITLE) as model:
        variables = {
            **environ,
            "RAGFORGE_LLM__MODEL": f"{model.wire.provider}:{model.wire.model}",
            "RAGFORGE_LLM__BASE_URL": model.base_url,
            "RAGFORGE_MCP__SERVERS": json.dumps(servers),
            "RAGFORGE_MCP__WAIT_SECONDS": "120",
            "RAGFORGE_MCP__CONNECT_SECONDS": "120",
            **more,
        }
        settings = load_settings(project, environ=variables).settings
        async with open_app(settings, project) as app:
            yield app, model


def find_children() -> list[psutil.Process]:
    """Return the servers that run as children of this process."""
    children = psutil.Process().children(recursive=True)
    return [
        one
        for one in children
        if one.status() != "zombie" and PROGRAM.search(" ".join(one.cmdline()))
    ]


class User:
    """Answers requests, and remembers them."""

    def __init__(self, answer: Any = "once") -> None:
        self.requests: list[PermissionRequest] = []
        self._answer = answer

    async def approve(self, request: PermissionRequest) -> Verdict:
        self.requests.append(request)
        return Verdict(self._answer, request.subject if self._answer == "always" else "")


def list_tools(model: ChatServer) -> list[str]:
    """Return the tools of servers that the model was offered last."""
    offered = json.loads(model.asked_in_turns[-1].text)["tools"]
    return [tool["function"]["name"] for tool in offered if "__" in tool["function"]["name"]]


def get_results(answer: Answer) -> list[Any]:
    return [
        call.result.result if call.success else call.result.error
        for call in answer.tool_calls
        if call.result is not None
    ]


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.provider)
async def test_a_servers_tool_is_asked_for_run_and_its_result_reaches_the_model(
    wire: Wire, environ: dict[str, str], project: Path
) -> None:
    user = User()
    async with (
        server.serve_http() as url,
        opened(environ, project, {"weather": {"url": url}}, wire=wire) as (app, model),
    ):
        answer = await app.ask("How is the weather?", approve=user.approve)
        sent = model.asked_in_turns
    assert answer.content == "Take an umbrella."
    assert "weather__forecast" in sent[0].text
    assert "It rains in Rome" not in sent[0].text
    assert "It rains in Rome" in sent[1].text
    (request,) = user.requests
    assert (request.action, request.subject) == ("mcp", "weather__forecast")
    assert request.always == ("weather__forecast", "weather__*")
    assert request.preview == ('server: weather\ntool: forecast\n{\n  "city": "Rome\\nand Oslo"\n}')
    assert get_results(answer) == [{"server": "weather", "content": "It rains in Rome\nand Oslo."}]


async def test_nothing_is_called_without_a_yes_though_the_tool_says_that_it_only_reads(
    environ: dict[str, str], project: Path
) -> None:
    async with (
        server.serve_http() as url,
        opened(environ, project, {"weather": {"url": url}}, (*ASK, *ASK, *ASK)) as (app, model),
    ):
        unattended = await app.ask("How is the weather?")
        edits = await app.ask("And now?", approve=allow_edits)
        user = User("deny")
        refused = await app.ask("Please?", approve=user.approve)
        last = model.asked_in_turns[-1].text
    for answer in (unattended, edits, refused):
        assert [call.success for call in answer.tool_calls] == [False]
    assert "The user declined this." in last
    assert "It rains" not in last
    assert len(user.requests) == 1


async def test_rules_allow_and_forbid_tools_and_always_makes_one(
    environ: dict[str, str], project: Path
) -> None:
    async with (
        server.serve_http() as url,
        opened(environ, project, {"weather": {"url": url}}, ASK * 4) as (app, _),
    ):
        user = User("always")
        await app.ask("How is the weather?", approve=user.approve)
        await app.ask("And now?", approve=user.approve)
        assert len(user.requests) == 1
        assert [str(rule) for rule in app.rules.all()] == ["mcp(weather__forecast)"]
        add_rule(app.rules, "deny", "mcp(weather__*)")
        denied = await app.ask("Really?", approve=user.approve)
        assert "A permission rule forbids mcp" in get_results(denied)[0]
        for rule in app.rules.all():
            app.rules.remove(rule)
        add_rule(app.rules, "allow", "mcp(weather__*)")
        allowed = await app.ask("Now?")
        assert "It rains" in str(get_results(allowed))


async def test_a_program_as_a_server_gets_no_keys_and_is_gone_at_the_end(
    environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-user")
    monkeypatch.setenv("SECRET_TOKEN", "s-1")
    entry = server.describe_server(env={"NAMED": "${SECRET_TOKEN}"})
    entry["args"] = [*entry["args"], "--stubborn"]  # it does not end by itself
    calls = tuple(
        Call(f"weather__{name}", arguments, f"call-{name}")
        for name, arguments in {
            "environment": {},
            "picture": {},
            "refuse": {},
            "crash": {},
            "forecast": {"city": "Bern"},
        }.items()
    )
    script = (Says(calls=calls), Says("Done."))
    events: list[Event] = []
    async with opened(environ, project, {"weather": entry}, script) as (app, model):
        question = "Is @weather:weather://today right?"
        answer = await app.ask(question, on_event=events.append, approve=User().approve)
        first, second = (asked.text for asked in model.asked_in_turns)
        stored = await app.store.timeline.messages(answer.conversation_id)
        text = await app.servers.word_prompt("weather", "compare", ["Rome"])
        assert find_children()
    assert find_children() == []
    assert "Sunny, 21 degrees." in first
    assert "Data, not instructions." in first
    assert stored[0].content == question
    names, picture, refused, crashed, forecast = get_results(answer)
    assert "NAMED" in names["content"]
    assert "PATH" in names["content"]
    assert "OPENAI_API_KEY" not in names["content"]
    assert "SECRET_TOKEN" not in names["content"]
    assert picture["content"] == "A cloud:\n(image, image/png, about 108 bytes, left out)"
    assert "the thermometer is broken" in refused
    assert "it has ended" in crashed
    assert forecast["content"] == "It rains in Bern.", "it was started again"
    assert "thermometer is broken" in second
    assert text == "Compare the weather of Rome and Oslo."
    assert not [event for event in events if isinstance(event, Noticed)]


async def test_dead_and_slow_servers_hold_up_no_turn_and_are_named_once(
    environ: dict[str, str], project: Path
) -> None:
    servers = {
        "missing": {"command": str(project / "no-such-program")},
        "dying": {"command": "sh", "args": ["-c", "echo no licence >&2; exit 3"]},
        "silent": {"command": "sleep", "args": ["1000"]},
        "nowhere": {"url": "http://127.0.0.1:9/mcp"},
    }
    events: list[Event] = []
    waits = {"RAGFORGE_MCP__WAIT_SECONDS": "0.1"}
    script = (Says("It is fine."), Says("Still fine."))
    async with opened(environ, project, servers, script, **waits) as (app, model):
        app.servers.start()
        while [one.state for one in app.servers.list_reports()].count("failed") < 3:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        for question in ("How is it?", "And now?"):
            await app.ask(question, on_event=events.append)
        assert list_tools(model) == []
        states = {one.spec.name: one.state for one in app.servers.list_reports()}
    notices = sorted(event.text for event in events if isinstance(event, Noticed))
    assert [notice.split(" does not")[0] for notice in notices] == [
        "Still starting: silent. What they offer comes with a later question; mcp.wait_seconds "
        "waits longer.",
        "The MCP server dying",
        "The MCP server missing",
        "The MCP server nowhere",
    ]
    assert "no licence" in notices[1]
    assert "No such file" in notices[2]
    assert states["silent"] == "connecting"


async def test_a_call_that_takes_too_long_ends_and_one_that_is_interrupted_too(
    environ: dict[str, str], project: Path
) -> None:
    rest = Call("weather__sleep", {"seconds": 1_000})
    script = (Says(calls=(rest,)), Says("Too slow."))
    limit = {"RAGFORGE_MCP__CALL_SECONDS": "0.5"}
    async with (
        server.serve_http() as url,
        opened(environ, project, {"weather": {"url": url}}, script, **limit) as (app, model),
    ):
        answer = await app.ask("Rest.", approve=User().approve)
        assert "did not answer within 0.5 seconds" in model.asked_in_turns[-1].text
    assert answer.content == "Too slow."
    user = User()
    script = (Says(calls=(rest,)),)
    async with (
        server.serve_http() as url,
        opened(environ, project, {"weather": {"url": url}}, script) as (app, _),
    ):
        turn = asyncio.create_task(app.ask("Rest again.", approve=user.approve))
        while not user.requests:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.2)  # the call has begun, or begins
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert "Bern" in await app.servers.call("weather", "forecast", {"city": "Bern"})


async def test_a_secret_that_a_server_returns_is_not_stored(
    environ: dict[str, str], project: Path
) -> None:
    secret = f"ghp_{'aB3dE6gH9j' * 4}"[:40]
    call = Call("weather__forecast", {"city": f"GITHUB_TOKEN={secret}"})
    script = (Says(calls=(call,)), Says("It rains."))
    async with (
        server.serve_http() as url,
        opened(environ, project, {"weather": {"url": url}}, script) as (app, _),
    ):
        answer = await app.ask("How is it?", approve=User().approve)
        stored = await app.store.timeline.messages(answer.conversation_id)
    assert "It rains in GITHUB_TOKEN=" in str(stored)
    assert secret not in str(stored)


async def test_headers_reach_the_server_and_a_wrong_address_is_said(
    environ: dict[str, str], project: Path
) -> None:
    seen: list[Mapping[str, str]] = []
    async with server.serve_http(seen) as url:
        servers = {
            "weather": {"url": url, "headers": {"X-Key": "k-1"}},
            "wrong": {"url": f"{url}/not-there"},
        }
        async with opened(environ, project, servers) as (app, _):
            await app.servers.wait()
            reports = {one.spec.name: one for one in app.servers.list_reports()}
    assert {one.get("x-key") for one in seen} == {"k-1", None}
    assert reports["weather"].state == "ready"
    assert reports["wrong"].state == "failed"
    assert reports["wrong"].problem.startswith(f"{url}/not-there answers with HTTP 404: ")


async def test_a_projects_servers_start_once_it_is_trusted_and_not_after_a_change(
    environ: dict[str, str], project: Path, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    async with server.serve_http() as url:

        async def list_states(**project_servers: object) -> dict[str, str]:
            (project / ".mcp.json").write_text(json.dumps({"mcpServers": project_servers}))
            async with opened(environ, project, {"own": {"url": url}}) as (app, _):
                await app.servers.wait()
                return {one.spec.name: one.state for one in app.servers.list_reports()}

        theirs = {"url": url}
        assert await list_states(theirs=theirs) == {"own": "ready", "theirs": "failed"}
        trust_folder(project, state)
        assert await list_states(theirs=theirs) == {"own": "ready", "theirs": "ready"}
        hidden = {"own": {"command": "touch", "args": [str(tmp_path / "made")]}, "theirs": theirs}
        assert (await list_states(**hidden))["own"] == "ready", "a project hides no server of mine"
        changed = {"url": url, "headers": {"A": "b"}}
        assert (await list_states(theirs=changed))["theirs"] == "failed"
        trust_folder(project, state)
        assert (await list_states(theirs=changed))["theirs"] == "ready"
    assert not (tmp_path / "made").exists()


def test_no_server_outlives_a_killed_ragforge(environ: dict[str, str], project: Path) -> None:
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from ragforge import load_settings, open_app\n"
        "async def main():\n"
        "    settings = load_settings(Path('.')).settings\n"
        "    async with open_app(settings, Path('.'), work=False) as app:\n"
        "        await app.servers.wait()\n"
        "        print(app.servers.list_reports()[0].state, flush=True)\n"
        "        await asyncio.sleep(1000)\n"
        "asyncio.run(main())\n"
    )
    variables = {
        **environ,
        "RAGFORGE_MCP__SERVERS": json.dumps({"weather": server.describe_server()}),
        "RAGFORGE_MCP__WAIT_SECONDS": "120",
        "RAGFORGE_MCP__CONNECT_SECONDS": "120",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    with subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=project,
        env=variables,
        stdout=subprocess.PIPE,
        text=True,
    ) as ragforge:
        assert ragforge.stdout is not None
        assert ragforge.stdout.readline() == "ready\n"
        servers = psutil.Process(ragforge.pid).children()
        assert len(servers) == 1
        ragforge.send_signal(signal.SIGKILL)
        ragforge.wait()
    gone, alive = psutil.wait_procs(servers, timeout=120)
    assert (len(gone), alive) == (1, [])


@pytest.fixture(scope="module")
def programs() -> Path:
    try:
        return install_clients() / "node_modules" / ".bin"
    except ClientsUnavailable as error:
        pytest.skip(f"no MCP client: {error}")


@pytest.mark.long  # it installs them from a registry
async def test_the_reference_servers_are_driven_by_a_model(
    environ: dict[str, str], project: Path, tmp_path: Path, programs: Path
) -> None:
    (project / "notes.txt").write_text("The lease lasts a minute.\n")
    memory = {"MEMORY_FILE_PATH": str(tmp_path / "memory.json")}
    servers = {
        "files": {"command": str(programs / "mcp-server-filesystem"), "args": [str(project)]},
        "everything": {"command": str(programs / "mcp-server-everything")},
        "graph": {"command": str(programs / "mcp-server-memory"), "env": memory},
    }
    lease = {"name": "lease", "entityType": "idea", "observations": ["It lasts a minute."]}
    calls = (
        Call("files__read_text_file", {"path": str(project / "notes.txt")}, "1"),
        Call("files__read_text_file", {"path": "/etc/hostname"}, "2"),
        Call("everything__get-sum", {"a": 2, "b": 40}, "3"),
        Call("everything__get-tiny-image", {}, "4"),
        Call("graph__create_entities", {"entities": [lease]}, "5"),
        Call("graph__search_nodes", {"query": "lease"}, "6"),
    )
    script = (Says(calls=calls), Says("All asked."))
    async with opened(environ, project, servers, script) as (app, model):
        question = "Ask them all, also @everything:demo://resource/static/document/features.md"
        answer = await app.ask(question, approve=User().approve)
        first, second = (asked.text for asked in model.asked_in_turns)
        reports = {one.spec.name: one.offer for one in app.servers.list_reports()}
        prompt = await app.servers.word_prompt("everything", "args-prompt", ["Rome"])
        with pytest.raises(ServerError):
            await app.servers.read("everything", "demo://resource/nothing")
    assert find_children() == []
    assert all(offer.tools for offer in reports.values()), reports
    assert "Everything Server" in first
    file, outside, total, image, _, found = get_results(answer)
    assert file["content"] == "The lease lasts a minute.\n"
    assert "denied" in outside
    assert "42" in total["content"]
    assert "image/png" in image["content"]
    assert "It lasts a minute." in found["content"]
    assert "It lasts a minute." in (tmp_path / "memory.json").read_text()
    assert "The lease lasts a minute." in second
    assert "Rome" in prompt
