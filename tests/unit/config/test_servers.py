"""Servers: what a user's file and a project's `.mcp.json` may say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragforge.config import Settings, load_settings
from ragforge.config.mcp_client import (
    list_project_specs,
    list_user_specs,
    read_project_servers,
)
from ragforge.errors import SettingsError
from ragforge.show.settings import settings_to_json

USERS = """
mcp:
  servers:
    files: {command: npx, args: [-y, server], env: {TOKEN: "${TOKEN}", LEVEL: "${LEVEL:-low}"}}
    web: {type: http, url: "https://example.org/mcp", headers: {Authorization: "Bearer ${TOKEN}"}}
"""


@pytest.fixture
def load(home: Path, project: Path) -> Any:
    def load(text: str) -> Settings:
        (home / "config" / "config.yaml").write_text(text)
        return load_settings(project, environ={}).settings

    return load


def write_project(project: Path, **servers: object) -> None:
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))


def test_a_users_servers_get_the_variables_that_they_name(
    load: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "t-1")
    files, web = list_user_specs(load(USERS).mcp.servers, "config.yaml", "/work")
    assert (files.command, files.args) == ("npx", ("-y", "server"))
    assert (files.env, files.cwd) == ({"TOKEN": "t-1", "LEVEL": "low"}, "/work")
    assert (web.url, web.headers) == ("https://example.org/mcp", {"Authorization": "Bearer t-1"})
    assert "t-1" not in repr(files) + repr(web)


def test_a_variable_that_is_not_there_is_named_and_starts_nothing(
    load: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOKEN", raising=False)
    files, _ = list_user_specs(load(USERS).mcp.servers, "config.yaml", "/work")
    assert files.problem == "it needs the variable TOKEN, which it cannot have"


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("{a__b: {command: x}}", "'a__b': a name is letters, digits, - and single _"),
        ("{x: {}}", "'x': it needs either a command or a url"),
        ("{x: {command: x, url: 'http://y'}}", "'x': it needs either a command or a url"),
        ("{x: {command: x, arg: [y]}}", "'x': arg: Extra inputs are not permitted"),
        ("{x: {command: x, args: y}}", "'x': args: Input should be a valid list"),
        ("{x: {url: 'ftp://y'}}", "'x': url: String should match"),
        ("{x: {url: 'http://y', type: sse}}", "its type is 'sse'; stdio"),
        ("nothing", "must be a section of a file"),
    ],
)
def test_what_is_wrong_with_a_server_is_said_with_its_name(
    load: Any, entry: str, problem: str
) -> None:
    with pytest.raises(SettingsError, match=r"config\.yaml: 'mcp\.servers' ") as raised:
        load(f"mcp: {{servers: {entry}}}")
    assert problem in str(raised.value)


def test_what_servers_are_given_is_not_shown(home: Path, project: Path) -> None:
    (home / "config" / "config.yaml").write_text(USERS.replace("${TOKEN}", "secret-7"))
    shown = json.dumps(settings_to_json(load_settings(project, environ={})))
    assert '"value": ["files", "web"]' in shown
    assert "secret-7" not in shown


def test_a_program_may_name_servers(home: Path, project: Path) -> None:
    servers = {"files": {"command": "npx", "args": ["-y", "server"]}}
    for options in ({"mcp": {"servers": servers}}, {"mcp.servers": servers}):
        settings = load_settings(project, options, environ={}).settings
        assert settings.mcp.servers["files"].args == ["-y", "server"]


def test_a_projects_own_file_cannot_name_servers(home: Path, project: Path) -> None:
    (project / "ragforge.config.yaml").write_text("mcp: {servers: {x: {command: y}}}\n")
    with pytest.raises(SettingsError, match=r"'mcp\.servers' is for you to decide"):
        load_settings(project, environ={}, trust_project=True)


def test_a_projects_servers_never_get_the_keys_of_models(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("RAGFORGE_NEO4J_PASSWORD", "pw")
    monkeypatch.setenv("CITY", "Rome")
    write_project(
        project,
        a={"command": "x", "env": {"K": "${OPENAI_API_KEY}"}},
        b={"url": "https://x.org/${RAGFORGE_NEO4J_PASSWORD}"},
        c={"command": "x", "args": ["${CITY}"], "note": "of another program"},
        d=7,
    )
    a, b, c, d = list_project_specs(read_project_servers(project), "/work")
    assert "OPENAI_API_KEY, which it cannot have" in a.problem
    assert "RAGFORGE_NEO4J_PASSWORD, which it cannot have" in b.problem
    assert (c.args, c.problem) == (("Rome",), "")
    assert d.problem


def test_ragforge_does_not_become_its_own_client(project: Path) -> None:
    write_project(project, memory={"command": "/usr/bin/ragforge", "args": ["mcp", "."]})
    (own,) = list_project_specs(read_project_servers(project), "/work")
    assert (own.is_ignored, own.command) == (True, "")
    assert "RagForge itself" in own.problem


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": []}', "[" * 10_000, "\x00"])
def test_a_path_that_is_not_a_file_names_nothing_and_says_so(project: Path, text: str) -> None:
    (project / ".mcp.json").write_text(text)
    found = read_project_servers(project)
    assert (found.entries, bool(found.problem)) == ({}, True)


def test_the_digest_changes_with_every_word_and_not_with_the_order(project: Path) -> None:
    def digest(**servers: object) -> str:
        write_project(project, **servers)
        return read_project_servers(project).digest

    one = digest(x={"command": "a", "args": ["b"]}, y={"url": "http://z"})
    assert digest(y={"url": "http://z"}, x={"args": ["b"], "command": "a"}) == one
    assert digest(x={"command": "a", "args": ["c"]}, y={"url": "http://z"}) != one
    assert digest(x={"command": "a", "args": ["b"], "env": {"P": "q"}}) != one
    assert digest() == read_project_servers(project / "nowhere").digest
