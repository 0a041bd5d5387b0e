"""`connect` adds RagForge to agents' configuration; `disconnect` leaves them as they were."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ragforge.app.features.connections import Connections
from ragforge.app.hook.outcomes import HookOutcome, Result, record_outcome
from ragforge.cli.main import run
from ragforge.config import load_settings
from ragforge.connect import agents
from ragforge.connect.changes import make_plugin
from ragforge.errors import InputError
from tests.unit.connect.conftest import read_all

ROOT = Path(__file__).parents[3]


def test_connect_then_disconnect_leaves_the_home_byte_for_byte(home: Path) -> None:
    before = read_all(home)

    assert run(["connect", "--no-import", "--yes"]) == 0
    connected = read_all(home)
    assert run(["connect", "--no-import", "--yes"]) == 0
    assert read_all(home) == connected
    assert run(["disconnect", "--yes"]) == 0

    assert connected != before
    assert {".codex/hooks.json", ".kimi/mcp.json", ".kimi/config.toml"} <= connected.keys()
    assert read_all(home) == before
    assert read_all(home.parent / "state") == {}


def test_the_entries_start_ragforge(home: Path) -> None:
    run(["connect", "claude-code", "codex", "--yes"])

    server = json.loads((home / ".claude.json").read_text())["mcpServers"]["ragforge"]
    assert server["args"][-1] == "mcp"
    codex = tomllib.loads((home / ".codex/config.toml").read_text())
    assert codex["mcp_servers"]["ragforge"]["args"][-1] == "mcp"
    hooks = json.loads((home / ".codex/hooks.json").read_text())["hooks"]
    events = ["SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "PostToolUse"]
    assert list(hooks) == events
    assert hooks["Stop"][0]["hooks"][0]["command"].endswith("ragforge hook --agent codex")
    assert not (home / ".kimi/mcp.json").exists()


def test_hooks_on_tools_match_only_those_that_touch_files(home: Path) -> None:
    for agent in ("gemini", "qwen"):
        (home / f".{agent}").mkdir()
    run(["connect", "--no-import", "--yes"])

    def find_matchers(file: str) -> dict[str, str]:
        hooks = json.loads((home / file).read_text().replace("// mine", ""))["hooks"]
        groups = {event: groups[-1] for event, groups in hooks.items()}
        return {event: one["matcher"] for event, one in groups.items() if "matcher" in one}

    assert find_matchers(".claude/settings.json") == {
        "PostToolUse": "Read|Edit|MultiEdit|Write|NotebookEdit"
    }
    assert find_matchers(".codex/hooks.json") == {"PostToolUse": "apply_patch"}
    assert find_matchers(".gemini/settings.json") == {"AfterTool": "read_file|replace|write_file"}
    assert find_matchers(".qwen/settings.json") == {"PostToolUse": "read_file|edit|write_file"}


def test_older_entries_of_ours_are_updated_and_the_files_still_become_as_they_were(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def group_as_before(
        agent: str, command: str, events: Sequence[str], timeout: int = 5
    ) -> dict[str, Any]:
        hook = {"type": "command", "command": command, "timeout": 5}
        return {event: {"hooks": [hook]} for event in events}

    before = read_all(home)
    with monkeypatch.context() as older:
        older.setattr(agents, "group_hooks", group_as_before)
        older.setattr(agents, "SECONDS", 5)
        run(["connect", "--no-import", "--yes"])
    connected = read_all(home)

    assert run(["connect", "--no-import", "--yes"]) == 0

    settings = (home / ".claude/settings.json").read_text()
    assert settings != connected[".claude/settings.json"].decode()
    assert settings.count("ragforge hook") == settings.count('"timeout": 10') == 6
    assert (home / ".kimi/config.toml").read_text().count("timeout = 10") == 5
    assert run(["disconnect", "--yes"]) == 0
    assert read_all(home) == before


def test_without_a_terminal_nothing_is_changed_and_the_diff_is_shown(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = read_all(home)

    assert run(["connect"]) == 1

    shown = capsys.readouterr()
    assert "+[mcp_servers.ragforge]" in shown.out
    assert "Add --yes" in shown.err
    assert read_all(home) == before


def test_what_others_changed_meanwhile_stays_and_our_entries_go(home: Path) -> None:
    run(["connect", "--no-import", "--yes"])
    settings = home / ".claude/settings.json"
    settings.write_text(settings.read_text().replace('"opus"', '"haiku"'))
    codex = home / ".codex/config.toml"
    codex.write_bytes(codex.read_bytes() + b'[projects."/x"]\r\ntrust_level = "trusted"\r\n')

    assert run(["disconnect", "--yes"]) == 0

    assert "haiku" in settings.read_text()
    assert "ragforge" not in settings.read_text() + codex.read_text()
    assert tomllib.loads(codex.read_text())["projects"] == {"/x": {"trust_level": "trusted"}}


def test_a_broken_file_is_reported_and_the_others_are_connected(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = home / ".claude/settings.json"
    settings.write_text("{ broken")

    assert run(["connect", "claude-code", "--yes"]) == 1

    assert settings.read_text() == "{ broken"
    assert "settings.json is left alone: line 1" in capsys.readouterr().err
    assert "ragforge" in (home / ".claude.json").read_text()


def test_a_link_inside_the_home_is_followed_and_one_out_of_it_is_not(
    home: Path, tmp_path: Path
) -> None:
    (home / "dotfiles").mkdir()
    (home / ".claude/settings.json").rename(home / "dotfiles/claude.json")
    (home / ".claude/settings.json").symlink_to(home / "dotfiles/claude.json")
    (tmp_path / "shared.toml").write_text("a = 1\n")
    (home / ".codex/config.toml").unlink()
    (home / ".codex/config.toml").symlink_to(tmp_path / "shared.toml")

    assert run(["connect", "claude-code", "codex", "--yes"]) == 1

    assert (home / ".claude/settings.json").is_symlink()
    assert "ragforge hook" in (home / "dotfiles/claude.json").read_text()
    assert (tmp_path / "shared.toml").read_text() == "a = 1\n"


def test_the_status_names_every_agent(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["connect", "codex", "--yes"])
    run(["connect", "--exclude", str(home / "secret")])
    capsys.readouterr()

    assert run(["connect", "--status", "--json"]) == 0

    shown = json.loads(capsys.readouterr().out)
    assert shown["agents"]["codex"] == "connected"
    assert shown["agents"]["claude-code"] == "not connected"
    assert shown["agents"]["cursor"] == "not installed"
    assert shown["excluded"] == [str(home / "secret")]
    assert shown["hooks"]["calls"] == 0


def test_the_status_tells_how_the_last_hooks_went(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results: tuple[Result, ...] = ("given", "given", "late")
    for result in results:
        outcome = HookOutcome(1.0, "codex", "prompt", result, 50, why="searching")
        record_outcome(home.parent / "state", outcome)

    assert run(["connect", "--status"]) == 0
    said = capsys.readouterr().out
    assert run(["connect", "--status", "--json"]) == 0
    hooks = json.loads(capsys.readouterr().out)["hooks"]

    assert (
        "Hooks, last 3: 2 answered, 0 had nothing to say, "
        "1 was late (deadline 4,000 ms; searching)" in said
    )
    assert {key: hooks[key] for key in ("calls", "answered", "late", "median_ms")} == {
        "calls": 3,
        "answered": 2,
        "late": 1,
        "median_ms": 50,
    }
    assert hooks["late_while"] == {"searching": 1}


def test_an_unknown_agent_is_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["connect", "emacs"]) == 1

    assert "There is no agent 'emacs'" in capsys.readouterr().err


def test_the_plugin_in_the_repository_is_what_the_source_gives(home: Path) -> None:
    run(["connect", "claude-code", "--plugin", str(home / "plugin")])

    assert read_all(home / "plugin") == read_all(ROOT / "plugins/claude-code")
    assert len(make_plugin("0")) == len(read_all(home / "plugin"))


@pytest.mark.parametrize(
    ("agent", "file", "text"),
    [
        ("gemini", ".gemini/settings.json", '{\n  "ui": {"theme": "x"}, // mine\n}\n'),
        ("qwen", ".qwen/settings.json", '{"hooks": {"Stop": [{"hooks": []}]}}'),
        ("cursor", ".cursor/hooks.json", '{\r\n\t"version": 1,\r\n\t"hooks": {}\r\n}\r\n'),
        ("copilot", ".copilot/mcp-config.json", '\ufeff{ "mcpServers" : { "a" : {} } }'),
        ("kimi", ".kimi/config.toml", '[[hooks]]\nevent = "Stop"\ncommand = "say done"'),
    ],
)
def test_every_other_agent_is_connected_and_left_as_it_was(
    agent: str, file: str, text: str, home: Path
) -> None:
    (home / file).parent.mkdir(exist_ok=True)
    (home / file).write_bytes(text.encode())
    before = read_all(home)

    assert run(["connect", agent, "--yes"]) == 0
    connected = read_all(home)
    assert run(["connect", agent, "--yes"]) == 0
    assert read_all(home) == connected
    assert b"ragforge" in connected[file]
    assert run(["disconnect", agent, "--yes"]) == 0

    assert read_all(home) == before


def test_a_file_that_changes_after_the_question_is_not_overwritten(home: Path) -> None:
    connections = Connections.of(load_settings(home).settings)
    settings = home / ".claude/settings.json"
    change = next(
        one for one in connections.plan(connections.find(["claude-code"])) if one.path == settings
    )
    settings.write_text("{}")

    with pytest.raises(InputError, match="changed meanwhile"):
        connections.connect(change)

    assert settings.read_text() == "{}"
