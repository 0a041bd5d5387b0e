"""The whole way: agents are connected, ask as they do, get context, and are left as they were."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from ragforge.cli.main import run
from tests.fakes.transcripts.claude_code import Claude
from tests.fakes.transcripts.codex import Codex
from tests.unit.connect.conftest import home, read_all

__all__ = ["home"]

PROMPT = "Why did the login loop happen with the cookie domain?"


@pytest.fixture
def shop(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in which both agents worked before they were connected."""
    folder = home / "shop"
    folder.mkdir()
    (folder / "README.md").write_text("# Shop\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RAGFORGE_HOOK__DEADLINE_MS", "60000")
    claude = Claude("before", cwd=str(folder))
    claude.say("The login loops.")
    claude.answer("The login loop came from the cookie domain: claude set the parent domain.")
    claude.write(home)
    codex = Codex("earlier", cwd=str(folder))
    codex.begin_turn("turn-1")
    codex.say("And the login loop on the phone?")
    codex.answer("The same cookie domain: codex set it there too.")
    codex.write(home)
    return folder


def call_hook(command: str, **given: Any) -> str:
    """Run a hook as an agent does, and return the context that comes back."""
    done = subprocess.run(
        command, shell=True, input=json.dumps(given), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""


def find_hook(home: Path, file: str, event: str) -> str:
    """Return the command that an agent runs at an event."""
    text = (home / file).read_text().replace("// mine", "")
    return json.loads(text)["hooks"][event][-1]["hooks"][0]["command"]


def ask_server(entry: dict[str, Any], folder: Path, tool: str, **given: Any) -> Any:
    """Start the server of a configuration, and call one of its tools."""
    call = {"name": tool, "arguments": given, "_meta": META}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    done = subprocess.run(
        [entry["command"], *entry["args"]],
        input=line + "\n",
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])["result"]["structuredContent"]


META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def test_claude_code_and_codex_get_each_others_memory_and_their_home_is_as_it_was(
    shop: Path, home: Path
) -> None:
    before = read_all(home)
    assert run(["connect", "--yes", "claude-code", "codex"]) == 0

    for agent, file in (("claude-code", ".claude/settings.json"), ("codex", ".codex/hooks.json")):
        context = call_hook(
            find_hook(home, file, "UserPromptSubmit"),
            session_id=f"{agent}-new",
            transcript_path=None,
            cwd=str(shop),
            hook_event_name="UserPromptSubmit",
            prompt=PROMPT,
        )
        assert "claude set the parent domain" in context
        assert "codex set it there too" in context

    entry = json.loads((home / ".claude.json").read_text())["mcpServers"]["ragforge"]
    found = ask_server(entry, shop, "recall", query="cookie domain", agent="codex")
    assert found["project"] == str(shop)
    assert "codex set it there too" in json.dumps(found["result"])

    assert run(["disconnect", "--yes"]) == 0
    assert read_all(home) == before


def test_what_an_agent_says_after_it_was_connected_arrives_at_the_other_one(
    shop: Path, home: Path
) -> None:
    assert run(["connect", "--yes", "claude-code", "codex"]) == 0
    claude = Claude("today", cwd=str(shop))
    claude.say("Which cookie domain has the quagga checkout?")
    claude.answer("The quagga checkout has a cookie domain of its own.")
    transcript = claude.write(home)

    ring = find_hook(home, ".claude/settings.json", "Stop")
    call_hook(
        ring,
        session_id="today",
        transcript_path=str(transcript),
        cwd=str(shop),
        hook_event_name="Stop",
    )

    ask = find_hook(home, ".codex/hooks.json", "UserPromptSubmit")
    given = {"session_id": "c-new", "cwd": str(shop), "hook_event_name": "UserPromptSubmit"}
    while "of its own" not in call_hook(ask, prompt="The quagga checkout cookie?", **given):
        time.sleep(0.2)  # the transcript is imported by a process that no agent waits for


@pytest.mark.parametrize("command", ["connect", "import"])
def test_the_report_has_all_that_was_imported(
    shop: Path, home: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["connect", "claude-code", "codex", "--yes", "--no-import"]) == 0
    for number in range(40):
        claude = Claude(f"session-{number}", cwd=str(shop))
        claude.say(f"Question {number}?")
        claude.answer("Yes.")
        claude.write(home)
    capsys.readouterr()

    words = ["connect", "claude-code", "codex", "--yes"] if command == "connect" else ["import"]
    assert run([*words, "--json"]) == 0

    printed = json.loads(capsys.readouterr().out)
    agents = printed.get("import", printed)["agents"]
    claude_code = agents["claude-code"]
    assert [claude_code[name] for name in ("files", "files_read", "sessions", "turns")] == [41] * 4
    assert agents["codex"]["turns"] == 1
