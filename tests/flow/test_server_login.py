"""Logins to MCP servers: real HTTP, an authorisation server, a browser that follows its page."""

from __future__ import annotations

import asyncio
import json
import stat
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from ragforge import load_settings, open_app
from ragforge.app.wiring.mcp_client import Logins, log_in
from ragforge.errors import ServerError
from tests.fakes.chat_server import ChatServer
from tests.fakes.wires import Call, OpenAiWire, Says
from tests.fakes.zygote import run_module

server = pytest.importorskip(
    "tests.fakes.mcp_server", reason="no MCP client: the package mcp is not installed"
)
asking = pytest.importorskip("tests.fakes.asking_server", reason="the package mcp is missing")

SECRET = Call("vault__secret", {}, "call-1")
NEEDED = "it wants you to log in: ragforge servers login vault"
BROWSER = """#!{python}
import sys, urllib.request
urllib.request.build_opener(urllib.request.ProxyHandler({{}})).open(sys.argv[1]).read()
"""


@pytest.fixture
def engine() -> str:
    return "sqlite"


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.setenv("NO_PROXY", "*")


@asynccontextmanager
async def guarded() -> AsyncIterator[tuple[str, Any]]:
    office = asking.Office()
    make = partial(asking.make_guarded_server, office=office)
    async with server.serve_http(make=make) as url:
        yield url, office


def configure(
    environ: Mapping[str, str], tmp_path: Path, entry: Mapping[str, object]
) -> dict[str, str]:
    return {
        **environ,
        "RAGFORGE_MCP__SERVERS": json.dumps({"vault": entry}),
        "RAGFORGE_MCP__WAIT_SECONDS": "120",
        "RAGFORGE_MCP__CONNECT_SECONDS": "120",
        "RAGFORGE_AGENT__STATE_DIR": str(tmp_path / "state"),
    }


async def follow(address: str) -> None:
    """Do what a browser does with a login page: it leads back to this machine."""
    async with httpx2.AsyncClient(follow_redirects=True) as browser:
        page = await browser.get(address)
        assert page.status_code == 200, page.text


async def ask_for_secret(variables: Mapping[str, str], project: Path) -> str:
    """Return what the model is told when it calls the tool of the server, or why it cannot."""
    script = (Says(calls=(SECRET,)), Says("Done."))
    async with ChatServer(OpenAiWire(), script, aside=Says('{"title": "A safe"}')) as model:
        own = {
            **variables,
            "RAGFORGE_LLM__MODEL": f"openai:{model.wire.model}",
            "RAGFORGE_LLM__BASE_URL": model.base_url,
        }
        async with open_app(load_settings(project, environ=own).settings, project) as app:
            await app.servers.wait()
            [report] = app.servers.list_reports()
            if report.problem:
                return report.problem
            app.rules.add(_allow_all())
            answer = await app.ask("Where is the safe?")
    [call] = answer.tool_calls
    assert call.result is not None
    return str(call.result.result if call.success else call.result.error)


def _allow_all() -> Any:
    from ragforge.agent.rules import make_rule

    return make_rule("allow", "mcp", "vault__*")


async def test_a_login_is_kept_renewed_and_ends(
    environ: dict[str, str], project: Path, tmp_path: Path
) -> None:
    async with guarded() as (url, office):
        variables = configure(environ, tmp_path, {"url": url})
        settings = load_settings(project, environ=variables).settings
        assert await ask_for_secret(variables, project) == NEEDED

        office.expires_in = 0  # the token has ended before it is used again
        assert await log_in(settings, project, "vault", follow)
        [file] = (tmp_path / "state" / "logins").iterdir()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        first = json.loads(file.read_text())["tokens"]
        office.access.clear()
        office.expires_in = 3_600
        assert "behind the picture" in await ask_for_secret(variables, project)
        second = json.loads(file.read_text())["tokens"]
        assert first["access_token"] != second["access_token"]
        assert "behind the picture" in await ask_for_secret(variables, project)
        assert json.loads(file.read_text())["tokens"] == second

        office.end_all()
        assert await ask_for_secret(variables, project) == NEEDED
        assert await log_in(settings, project, "vault", follow)
        assert "behind the picture" in await ask_for_secret(variables, project)


async def test_the_command_opens_the_users_browser_and_logs_out_again(
    environ: dict[str, str], project: Path, tmp_path: Path
) -> None:
    browser = tmp_path / "browser"
    browser.write_text(BROWSER.format(python=sys.executable))
    browser.chmod(0o755)

    async with guarded() as (url, _office):
        variables = configure(environ, tmp_path, {"url": url}) | {"BROWSER": f"{browser} %s"}

        async def run(*arguments: str) -> tuple[int, str]:
            done = await asyncio.to_thread(
                run_module, "ragforge", "servers", *arguments, cwd=project, env=variables
            )
            return done.returncode, done.stdout + done.stderr

        code, said = await run()
        assert NEEDED in " ".join(said.split())
        code, said = await run("login", "vault")
        assert (code, said.splitlines()[-1]) == (0, "Logged in to vault.")
        assert f"Log in to vault on this page: {url.removesuffix('mcp')}authorize?" in said
        code, said = await run()
        assert "vault  1 tool\n" in said
        assert await run("logout", "vault") == (0, "Logged out of vault.\n")
        assert await run("logout", "vault") == (0, "You are not logged in to vault.\n")
        code, said = await run()
        assert NEEDED in " ".join(said.split())
        assert list((tmp_path / "state" / "logins").iterdir()) == []
        code, said = await run("login", "other")
        assert (code, "There is no MCP server 'other'. Configured: vault." in said) == (1, True)


async def test_a_refused_login_keeps_nothing_and_says_why(
    environ: dict[str, str], project: Path, tmp_path: Path
) -> None:
    async with guarded() as (url, office):
        settings = load_settings(
            project, environ=configure(environ, tmp_path, {"url": url})
        ).settings
        office.refuses = True
        with pytest.raises(ServerError, match="the login was refused: access_denied"):
            await log_in(settings, project, "vault", follow)

        async def come_back_as_a_stranger(address: str) -> None:
            back = httpx2.URL(address).params["redirect_uri"]
            async with httpx2.AsyncClient() as browser:
                for query in ("code=stolen&state=guessed", "code=stolen", ""):
                    assert (await browser.get(f"{back}?{query}")).status_code == 404
            await follow(address)

        office.refuses = False
        assert await log_in(settings, project, "vault", come_back_as_a_stranger)


async def test_a_server_without_a_login_says_so(
    environ: dict[str, str], project: Path, tmp_path: Path
) -> None:
    async with server.serve_http() as url:
        variables = configure(environ, tmp_path, {"url": url})
        settings = load_settings(project, environ=variables).settings
        assert not await log_in(settings, project, "vault", follow)


def test_a_login_is_kept_in_the_keyring_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: dict[tuple[str, str], str] = {}
    keyring = SimpleNamespace(
        get_password=lambda service, name: kept.get((service, name)),
        set_password=lambda service, name, secret: kept.update({(service, name): secret}),
        delete_password=lambda service, name: kept.pop((service, name)),
    )
    logins = Logins(tmp_path / "logins")
    logins.write("https://a.example.org/mcp", "in a file")
    assert logins.read("https://a.example.org/mcp") == "in a file"
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    assert logins.read("https://a.example.org/mcp") == "in a file"
    logins.write("https://a.example.org/mcp", "in the keyring")
    [file] = (tmp_path / "logins").iterdir()
    assert file.read_text() == ""
    assert list(kept.values()) == ["in the keyring"]
    assert logins.read("https://a.example.org/mcp") == "in the keyring"
    assert logins.read("https://a.example.org/other") == ""
    assert logins.delete("https://a.example.org/mcp")
    assert (kept, list((tmp_path / "logins").iterdir())) == ({}, [])
    kept["ragforge", "mcp@a.example.org"] = "of another program"
    assert logins.read("https://a.example.org/mcp") == ""
    kept.clear()
    keyring.set_password = lambda service, name, secret: None  # it forgets at once
    logins.write("https://a.example.org/mcp", "in a file again")
    assert logins.read("https://a.example.org/mcp") == "in a file again"
