"""Upgrade: what an earlier version wrote for a user is used and completed by this one.

The fixture is the home of a user of 2026-11-18: a store of schema 21 with one session and a note
about a project, a configuration, and Claude Code, which was connected then.
"""

from __future__ import annotations

import itertools
import json
import os
import shlex
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from ragforge.adapters.stores.sqlite import migrate
from ragforge.cli.main import run
from ragforge.config.layers import load_settings
from tests.flow.test_connect import call_hook

OLD_HOME = Path(__file__).parents[1] / "fixtures" / "upgrade" / "home-2026-11-18.tar.xz"
PROGRAM = "/home/ann/bin/ragforge"
NOTE = "Totals are rounded down to whole cents."
QUESTION = "How is the total computed?"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, without variables that lead elsewhere."""
    for name in list(os.environ):
        if name.startswith(("RAGFORGE_", "XDG_", "CLAUDE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def shop(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone of the project, in the home that the earlier version left."""
    with tarfile.open(OLD_HOME) as packed:
        packed.extractall(home, filter="data")
    for name in (".claude.json", ".claude/settings.json", ".local/share/ragforge/connections.json"):
        file = home / name
        text = file.read_text().replace(PROGRAM, shlex.join((sys.executable, "-P", "-m ragforge")))
        file.write_text(
            text.replace("'-m ragforge'", "-m ragforge").replace("/home/ann", str(home))
        )
    shop = home / "shop"
    subprocess.run(["git", "init", "--quiet", shop], check=True)
    remote = ["remote", "add", "origin", "https://example.org/ann/shop.git"]
    subprocess.run(["git", "-C", shop, *remote], check=True)
    (shop / "cart.py").write_text("def total(items):\n    return sum(items)\n")
    monkeypatch.chdir(shop)
    monkeypatch.setenv("RAGFORGE_HOOK__DEADLINE_MS", "60000")
    monkeypatch.setenv("RAGFORGE_AUTHOR", "Ann")
    monkeypatch.setenv("RAGFORGE_JOBS__DETACH", "false")
    return shop


def test_settings_memory_and_schema_are_taken_over(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = load_settings(shop).settings
    assert settings.jobs.max_attempts == 7
    assert settings.agent.memory.subdirectory_only

    assert run(["sessions", "list"]) == 0
    assert QUESTION in capsys.readouterr().out
    assert run(["memory", "notes"]) == 0
    assert NOTE in capsys.readouterr().out
    assert run(["doctor", "--json"]) == 0
    checks = {one["name"]: one for one in json.loads(capsys.readouterr().out)["checks"]}
    assert checks["schema"]["detail"] == f"version {migrate.SCHEMA}, up to date"


def test_an_agent_that_was_connected_gets_context_by_the_line_of_then(
    home: Path, shop: Path
) -> None:
    hooks = json.loads((home / ".claude" / "settings.json").read_text())["hooks"]
    line = hooks["UserPromptSubmit"][0]["hooks"][0]["command"]

    given = {"hook_event_name": "UserPromptSubmit", "cwd": str(shop)}
    sessions = map(str, itertools.count())  # what one has received is not given to it again

    found = ""
    while NOTE not in found:  # the first call has the store upgraded, by a process of its own
        found = call_hook(
            line,
            prompt="Are totals rounded down to whole cents?",
            session_id=next(sessions),
            **given,
        )


def test_connecting_again_adds_what_is_new_and_disconnecting_leaves_the_users_own(
    home: Path, shop: Path
) -> None:
    file = home / ".claude" / "settings.json"
    before = json.loads(file.read_text())["hooks"]

    assert run(["connect", "claude-code", "--yes", "--no-import"]) == 0
    after = json.loads(file.read_text())

    assert after["model"] == "opus"
    assert before.keys() <= after["hooks"].keys()
    assert "PostToolUse" in after["hooks"], "memory about a file came later"
    assert all(len(groups) == 1 for groups in after["hooks"].values()), "nothing runs twice"

    assert run(["disconnect", "claude-code", "--yes"]) == 0
    assert json.loads(file.read_text()) == {"model": "opus"}
