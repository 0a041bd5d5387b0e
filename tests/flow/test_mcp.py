"""The server for other agents, with the official Python SDK as its client, in both eras."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.fakes.remembered_shop import (
    RememberedShop,
    add_document,
    make_environ,
    remember_shop,
)

SDK = "no MCP client: the package mcp is not installed (see requirements-dev.lock)"
ERAS = ["2026-07-28", "legacy"]
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.fixture
async def shop(tmp_path: Path) -> RememberedShop:
    return await remember_shop(tmp_path)


@asynccontextmanager
async def connect(
    shop: RememberedShop, era: str, cwd: Path, *arguments: str, **callbacks: Any
) -> AsyncIterator[Any]:
    """Start the server as an agent does, and open the SDK's client on it."""
    sdk = pytest.importorskip("mcp", reason=SDK)
    stdio = pytest.importorskip("mcp.client.stdio", reason=SDK)
    environ = {**shop.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    server = stdio.StdioServerParameters(
        command=sys.executable,
        args=["-m", "ragforge", "mcp", *arguments],
        env=environ,
        cwd=cwd,
    )
    async with sdk.Client(stdio.stdio_client(server), mode=era, **callbacks) as client:
        yield client


def find_servers() -> list[psutil.Process]:
    """Return the servers that this process has started."""
    children = psutil.Process().children()
    return [one for one in children if one.status() != "zombie" and "mcp" in one.cmdline()]


@pytest.mark.parametrize("era", ERAS)
async def test_every_tool_prompt_and_resource_answers_about_the_clients_folder(
    shop: RememberedShop, tmp_path: Path, era: str
) -> None:
    types = pytest.importorskip("mcp_types", reason=SDK)
    await add_document(shop)
    questions: list[str] = []
    reports: list[str] = []

    async def say_yes(context: object, params: Any) -> Any:
        questions.append(params.message)
        return types.ElicitResult(action="accept", content={"forget": True})

    async def list_roots(context: object) -> Any:
        return types.ListRootsResult(roots=[types.Root(uri=shop.root.as_uri())])

    async def report(done: float, total: float | None, doing: str | None) -> None:
        reports.append(doing or "")

    async with connect(
        shop,
        era,
        tmp_path,  # no project: the home directory
        elicitation_callback=say_yes,
        list_roots_callback=list_roots,
    ) as client:
        tools = (await client.list_tools()).tools
        assert len(tools) == 8

        async def call(name: str, /, **given: object) -> Any:
            found = await client.call_tool(name, given, progress_callback=report)
            assert not found.is_error, found.content
            content = found.structured_content
            assert content["project"] == str(shop.root)
            assert json.loads(found.content[0].text) == content
            return content["result"]

        # The two that touch nothing else begin together: a server works side by side.
        recalled, code = await asyncio.gather(
            call("recall", query="why are hashes compared", agent="codex"),
            call("search_code", query="where are passwords checked"),
        )
        assert (recalled[0]["id"], recalled[0]["agent"]) == (shop.turn, "codex")
        assert "changed since" in recalled[0]["aged"]
        assert code["code"][0]["file"] == "src/login.py"
        assert [one["place"] for one in code["documents"]] == [
            "docs/login.md:3-5 Login > Passwords"
        ]
        assert "searching" in reports
        built = await call("context", task="Change how check_password compares hashes")
        assert "clear text" in built["context"]
        assert built["receipt"]
        related = await call("related", name="check_password")
        assert any("login" in one for one in related["code"]["used_by"])
        assert related["sessions"][0]["conversation_id"] == shop.session
        since = related["sessions"][0]["touched"][0]["since"]
        assert (since["state"], since["commits"][0]["subject"]) == ("changed", "use a digest")
        opened = await call("open", id=shop.session, budget=1_000)
        assert opened["pages"] > 1
        [session] = await call("sessions", query="password check")
        assert session["agent"] == "codex"
        kept = await call("remember", text="It uses a digest.", supersedes=shop.note)
        assert (await call("forget", id=kept["id"]))["id"] == kept["id"]
        assert "It uses a digest." in questions[0]
        gone = await client.call_tool("open", {"id": kept["id"]})
        assert gone.is_error
        resumed = await client.get_prompt("resume")
        assert "clear text" in resumed.messages[0].content.text
        why = await client.get_prompt("why", {"name": "src/login.py"})
        assert shop.session in why.messages[0].content.text
        status = await client.read_resource("ragforge://status")
        assert json.loads(status.contents[0].text)["files"] == 2
        [server] = find_servers()
        assert [one for one in server.children() if one.status() != "zombie"] == []


@pytest.mark.parametrize("era", ERAS)
async def test_nothing_is_forgotten_without_a_yes_and_no_home_is_a_project(
    shop: RememberedShop, tmp_path: Path, era: str
) -> None:
    types = pytest.importorskip("mcp_types", reason=SDK)

    async def say_no(context: object, params: Any) -> Any:
        return types.ElicitResult(action="decline")

    async with connect(shop, era, tmp_path, elicitation_callback=say_no) as client:
        nowhere = await client.call_tool("sessions", {})
        assert nowhere.is_error
        assert f"{tmp_path} is not a project" in nowhere.content[0].text
        at = {"project": str(shop.root)}
        refused = await client.call_tool("forget", {"id": shop.session, **at})
        assert refused.is_error
        assert "did not agree" in refused.content[0].text
        kept = await client.call_tool("sessions", at)
        assert kept.structured_content["result"][0]["conversation_id"] == shop.session
        wrong = await client.call_tool("recall", at)
        assert wrong.is_error  # a model sees results, and errors of the protocol it does not
        assert "query is missing" in wrong.content[0].text


@pytest.fixture
def empty(tmp_path: Path) -> RememberedShop:
    """A project of which nothing is remembered."""
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    return RememberedShop(tmp_path / "shop", make_environ(tmp_path), "", "", "")


def start(shop: RememberedShop, *arguments: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-m", "ragforge", *arguments],
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
        cwd=shop.root,
        env={**os.environ, **shop.environ},
    )


def write_request(id: int, method: str, **params: object) -> str:
    message = {"jsonrpc": "2.0", "id": id, "method": method, "params": {**params, "_meta": META}}
    return f"{json.dumps(message)}\n"


def test_a_script_gets_all_answers_before_the_server_ends_with_its_input(
    shop: RememberedShop,
) -> None:
    with start(shop, "mcp", "src/..", "--store", shop.environ["RAGFORGE_STORE"]) as server:
        sent = write_request(1, "tools/call", name="sessions") + write_request(
            2, "tools/call", name="forget", arguments={"id": shop.note}
        )
        out, err = server.communicate(sent)
    answers = {one["id"]: one["result"] for one in map(json.loads, out.splitlines())}
    assert answers[1]["structuredContent"]["project"] == str(shop.root)
    assert f"ragforge memory forget-note {shop.note}" in answers[2]["content"][0]["text"]
    assert (server.returncode, err) == (0, "")


def test_listing_tools_loads_nothing_heavy_and_a_signal_ends_it(empty: RememberedShop) -> None:
    with start(empty, "mcp") as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(write_request(1, "tools/list"))
        server.stdin.flush()
        assert len(json.loads(server.stdout.readline())["result"]["tools"]) == 8
        process = psutil.Process(server.pid)
        assert process.memory_info().rss < 40e6
        assert process.children() == []
        assert not any(path.endswith(".db") for path, *_ in process.open_files())
        server.send_signal(signal.SIGTERM)
        out, err = server.communicate()
    assert (server.returncode, out, err) == (143, "", "")


def test_a_server_ends_when_its_parent_is_gone(empty: RememberedShop) -> None:
    reading, writing = os.pipe()  # this process keeps the server's input open
    program = (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-m', 'ragforge', 'mcp']).wait()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=reading,
        stdout=subprocess.PIPE,
        text=True,
        cwd=empty.root,
        env={**os.environ, **empty.environ},
    ) as parent:
        assert parent.stdout is not None
        os.write(writing, write_request(1, "tools/list").encode())
        assert "recall" in parent.stdout.readline()
        parent.kill()
        parent.wait()
        assert parent.stdout.read() == ""  # it ends when the server no longer holds it
    os.close(reading)
    os.close(writing)


def test_a_path_that_is_not_a_folder_is_refused_at_the_start(empty: RememberedShop) -> None:
    with start(empty, "mcp", "missing") as server:
        _, err = server.communicate()
    assert server.returncode == 1
    assert "is not a folder" in err
