"""`ragforge servers`: which servers there are, where they are configured, and why one fails."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ragforge.app.features import doctor
from ragforge.app.wiring import mcp_client
from ragforge.config import load_settings
from ragforge.domain.mcp_client import ServerOffer, ServerSpec, ServerTool
from ragforge.errors import ServerError
from tests.fakes.server_connection import Connection
from tests.unit.cli.conftest import Ragforge

USERS = '{"mcp": {"servers": {"files": {"command": "good"}, "web": {"url": "http://nowhere.org"}}}}'
THEIRS = '{"mcpServers": {"theirs": {"command": "touch", "args": ["made"]}}}'


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Configure servers; the names of those that are connected."""
    names: list[str] = []

    @asynccontextmanager
    async def connect(
        spec: ServerSpec, seconds: float, leaving: object, answer: object, **more: object
    ) -> AsyncIterator[Connection]:
        names.append(spec.name)
        if spec.url:
            raise ServerError(spec.name, "http://nowhere.org cannot be reached")
        yield Connection(ServerOffer((ServerTool("read", "", {}), ServerTool("list", "", {}))))

    monkeypatch.setattr(mcp_client, "connect", connect)
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "config.yaml").write_text(USERS)
    return names


def test_each_is_listed_with_its_file_and_what_it_offers_or_why_not(
    ragforge: Ragforge, connected: list[str], project: Path, tmp_path: Path
) -> None:
    (project / ".mcp.json").write_text(THEIRS)
    out = ragforge("servers").out
    assert "files   2 tools\n" in out
    assert "web     http://nowhere.org cannot be reached\n" in out
    assert "theirs  not started: you did not trust .mcp.json as it is now" in out
    assert str(tmp_path / "c" / "config.yaml") in out
    assert str(project / ".mcp.json") in out
    assert sorted(connected) == ["files", "web"]
    files, web, theirs = json.loads(ragforge("servers", "--json").out)["servers"]
    assert (files["state"], files["tools"], files["kind"]) == ("ready", ["read", "list"], "stdio")
    assert (web["state"], web["kind"], web["tools"]) == ("failed", "http", [])
    assert (theirs["state"], theirs["configured_in"]) == ("failed", str(project / ".mcp.json"))


def test_a_projects_servers_are_connected_after_a_yes(
    ragforge: Ragforge, connected: list[str], project: Path
) -> None:
    (project / ".mcp.json").write_text(THEIRS)
    asked = ragforge("trust", "--yes").err
    assert "  .mcp.json, which would start or reach:\n" in asked
    assert '    theirs: {"command": "touch", "args": ["made"]}\n' in asked
    assert "theirs  2 tools\n" in ragforge("servers").out
    assert "theirs" in connected


def test_without_any_a_line_says_where_to_name_them(ragforge: Ragforge) -> None:
    output = ragforge("servers")
    assert output.out == ""
    assert "mcp.servers in your configuration file" in output.err
    assert json.loads(ragforge("servers", "--json").out) == {"servers": []}


async def test_the_doctor_names_only_broken_ones(connected: list[str], project: Path) -> None:
    settings = load_settings(project, environ={}).settings
    (check,) = await doctor.check_servers(settings, project)
    assert (check.status, check.detail) == (
        "warn",
        "1 server answers; web: http://nowhere.org cannot be reached",
    )
    assert await doctor.check_servers(type(settings)(), project) == []


async def test_a_missing_library_is_named_with_the_line_that_installs_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def import_module(name: str) -> None:
        raise ModuleNotFoundError("No module named 'mcp'")

    monkeypatch.setattr(mcp_client, "import_module", import_module)
    options = {"mcp": {"servers": {"x": {"command": "y"}}}}
    settings = load_settings(project, options, environ={}).settings
    (report,) = await mcp_client.list_reports(settings, project)
    assert report.problem == ("the MCP library is not installed: pip install 'ragforge-agent[mcp]'")
