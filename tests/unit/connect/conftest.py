"""Fixtures: a home with agents, and the variables that point everything at it."""

from __future__ import annotations

from pathlib import Path

import pytest

CLAUDE = (
    '{\n  // mine\n  "model": "opus",\n  "hooks": {\n    "Stop": [\n'
    '      {"hooks": [{"type": "command", "command": "say done"}]}\n    ]\n  }\n}\n'
)
STATE = '{"numStartups": 5, "mcpServers": {"other": {"command": "other"}}}'
CODEX = 'model = "gpt" # mine\r\n\r\n[mcp_servers.other]\r\ncommand = "other"\r\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with Claude Code, Codex, opencode and an empty folder of Kimi."""
    folder = tmp_path / "home"
    files = {
        ".claude/settings.json": CLAUDE,
        ".claude.json": STATE,
        ".codex/config.toml": CODEX,
        ".config/opencode/opencode.jsonc": "{\n  // none\n}\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    (folder / ".kimi").mkdir()
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "COPILOT_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    (tmp_path / "user.yaml").touch()
    monkeypatch.setenv("RAGFORGE_CONFIG", str(tmp_path / "user.yaml"))
    monkeypatch.setenv("RAGFORGE_STORE", str(tmp_path / "store.db"))
    monkeypatch.setenv("RAGFORGE_AGENT__STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("RAGFORGE_JOBS__CLOSING_SECONDS", "0")
    monkeypatch.setenv("RAGFORGE_JOBS__DETACH", "false")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(folder)
    return folder


def read_all(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
