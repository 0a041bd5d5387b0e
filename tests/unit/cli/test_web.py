"""`ragforge web`: where it listens, who may connect, and how it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from ragforge.app import open_app
from ragforge.cli.commands import web
from ragforge.config import Settings
from tests.fakes.transcripts.claude_code import Claude
from tests.unit.cli.conftest import Ragforge

pytest.importorskip("jinja2", reason="the extra web is not installed")


def test_other_machines_reach_it_only_if_that_is_allowed(ragforge: Ragforge) -> None:
    shown = ragforge("web", "--host", "0.0.0.0", "--no-open")

    assert shown.code == 1
    assert "--allow-remote" in shown.err


@pytest.mark.parametrize("password", ["", "short"])
def test_other_machines_need_a_password(
    ragforge: Ragforge, monkeypatch: pytest.MonkeyPatch, password: str
) -> None:
    monkeypatch.setenv("RAGFORGE_WEB_PASSWORD", password)

    shown = ragforge("web", "--host", "192.0.2.1", "--allow-remote", "--no-open")

    assert shown.code == 1
    assert "at least 12 characters" in shown.err


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_host_must_be_a_name_that_requests_can_be_compared_with(
    ragforge: Ragforge, host: str
) -> None:
    shown = ragforge("web", "--host", host, "--allow-remote", "--no-open")

    assert shown.code == 1
    assert "Name the address" in shown.err


def test_without_the_extra_it_says_how_to_install_it(
    ragforge: Ragforge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "ragforge.web.serve", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)

    shown = ragforge("web", "--no-open")

    assert shown.code == 1
    assert "pip install 'ragforge-agent[web]'" in shown.err


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no such signal here")
def test_it_serves_until_its_terminal_goes_away(tmp_path: Path) -> None:
    settings = {
        "RAGFORGE_STORE": str(tmp_path / "memory.db"),
        "RAGFORGE_CONFIG": str(tmp_path / "user.yaml"),
        "RAGFORGE_AGENT__STATE_DIR": str(tmp_path / "state"),
        "RAGFORGE_JOBS__DETACH": "false",
    }
    (tmp_path / "user.yaml").touch()
    command = [sys.executable, "-m", "ragforge", "web", "--no-open"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=tmp_path, env={**os.environ, **settings}
    ) as running:
        assert running.stdout is not None
        address = running.stdout.readline().strip()
        browser = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(CookieJar())
        )
        with browser.open(address) as page:
            assert "Type to search" in page.read().decode()
        running.send_signal(signal.SIGHUP)
        assert running.wait() == 129


async def test_what_another_agent_writes_appears_while_the_page_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setattr(web, "FOLLOW_AFTER", 0.0)
    settings = Settings.model_validate(
        {
            "store": {"url": str(tmp_path / "memory.db")},
            "llm": {"model": "none"},
            "agent": {"state_dir": str(tmp_path / "state")},
            "jobs": {"detach": False},
        }
    )
    agent = Claude("s1")
    agent.say("Why does the total skip an item?")
    agent.write(tmp_path)
    async with open_app(settings, tmp_path, work=False) as app:
        await app.imports.run(["claude-code"])
        agent.answer("The slice began at one.")
        agent.say("Is it tested?")
        agent.write(tmp_path)
        async with web.follow_agents(app):
            [session] = await app.sessions.find(None, everywhere=True)
            while session.turn_count < 2:
                await asyncio.sleep(0.01)
                [session] = await app.sessions.find(None, everywhere=True)
        assert session.turn_count == 2
