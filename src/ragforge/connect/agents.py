"""Agents: which there are, where their configuration is, and what RagForge adds to it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragforge.connect.config_file import ConfigFile, JsonFile, TomlFile
from ragforge.records import dataclass

NAME = "ragforge"
SECONDS = 10
"""How long an agent waits for a hook. RagForge's own deadline is shorter (`hook.deadline_ms`)."""
EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
GEMINI_EVENTS = ("SessionStart", "BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd")
FILE_TOOLS = {
    "claude-code": ("PostToolUse", "Read|Edit|MultiEdit|Write|NotebookEdit"),
    "codex": ("PostToolUse", "apply_patch"),
    "gemini": ("AfterTool", "read_file|replace|write_file"),
    "qwen": ("PostToolUse", "read_file|edit|write_file"),
}
"""After which tools an agent asks about a file: the event, and the names that it matches."""
CURSOR_EVENTS = ("sessionStart", "stop", "preCompact", "sessionEnd")


@dataclass(frozen=True, slots=True)
class Agent:
    """A coding agent, and what connecting changes for it."""

    name: str
    title: str
    folder: Path  # there once the agent was started
    files: tuple[ConfigFile, ...]
    note: str = ""  # what the user has to do or know

    @property
    def is_installed(self) -> bool:
        return self.folder.is_dir()


def list_agents(home: Path, environ: Mapping[str, str], program: Sequence[str]) -> list[Agent]:
    """Return all agents that can be connected. `program` is the command that starts RagForge."""

    def find(variable: str, default: str) -> Path:
        return Path(environ[variable]) if environ.get(variable) else home / default

    claude = find("CLAUDE_CONFIG_DIR", ".claude")
    state = claude if environ.get("CLAUDE_CONFIG_DIR") else home
    codex, copilot = find("CODEX_HOME", ".codex"), find("COPILOT_HOME", ".copilot")
    gemini, qwen, cursor = home / ".gemini", home / ".qwen", home / ".cursor"
    opencode = find("XDG_CONFIG_HOME", ".config") / "opencode"
    kimi = find("KIMI_CODE_HOME", ".kimi-code")
    kimi = kimi if kimi.is_dir() else home / ".kimi"
    server = {"command": program[0], "args": [*program[1:], "mcp"]}
    typed = {"type": "stdio", **server}
    return [
        Agent(
            "claude-code",
            "Claude Code",
            claude,
            (
                JsonFile(state / ".claude.json", {("mcpServers", NAME): typed}),
                JsonFile(
                    claude / "settings.json", hooks=_group_all(program, "claude-code", EVENTS)
                ),
            ),
        ),
        Agent(
            "codex",
            "Codex CLI",
            codex,
            (
                TomlFile(codex / "config.toml", _format_codex_server(program)),
                JsonFile(codex / "hooks.json", hooks=_group_all(program, "codex", EVENTS[:4])),
            ),
            "Codex asks you once to trust the hooks: /hooks.",
        ),
        Agent(
            "gemini",
            "Gemini CLI",
            gemini,
            (
                JsonFile(
                    gemini / "settings.json",
                    {("mcpServers", NAME): server},
                    _group_all(program, "gemini", GEMINI_EVENTS, 1_000 * SECONDS),
                ),
            ),
        ),
        Agent("opencode", "opencode", opencode, (_make_opencode_file(opencode, program),)),
        Agent(
            "cursor",
            "Cursor",
            cursor,
            (
                JsonFile(cursor / "mcp.json", {("mcpServers", NAME): server}),
                JsonFile(
                    cursor / "hooks.json",
                    hooks={
                        ("hooks", event): {"command": make_hook_command(program, "cursor")}
                        for event in CURSOR_EVENTS
                    },
                    needs={("version",): 1},
                ),
            ),
        ),
        Agent(
            "copilot",
            "Copilot CLI",
            copilot,
            (
                JsonFile(
                    copilot / "mcp-config.json",
                    {("mcpServers", NAME): {"type": "local", **server, "tools": ["*"]}},
                ),
            ),
        ),
        Agent(
            "qwen",
            "Qwen Code",
            qwen,
            (
                JsonFile(
                    qwen / "settings.json",
                    {("mcpServers", NAME): server},
                    _group_all(program, "qwen", EVENTS),
                ),
            ),
        ),
        Agent(
            "kimi",
            "Kimi",
            kimi,
            (
                JsonFile(kimi / "mcp.json", {("mcpServers", NAME): server}),
                TomlFile(kimi / "config.toml", _format_kimi_hooks(program)),
            ),
        ),
    ]


def make_hook_command(program: Sequence[str], agent: str) -> str:
    """Return the line that an agent's shell runs for a hook."""
    return f"{shlex.join(program)} hook --agent {agent}"


def group_hooks(
    agent: str, command: str, events: Sequence[str], timeout: int = SECONDS
) -> dict[str, Any]:
    """Return event → its entry, in the form that Claude Code and others share.

    A matcher keeps the agent from starting a process for tools that touch no file.
    """
    group = {"hooks": [{"type": "command", "command": command, "timeout": timeout}]}
    event, tools = FILE_TOOLS[agent]
    return {**dict.fromkeys(events, group), event: {"matcher": tools, **group}}


def _group_all(
    program: Sequence[str], agent: str, events: Sequence[str], timeout: int = SECONDS
) -> dict[tuple[str, ...], Any]:
    entries = group_hooks(agent, make_hook_command(program, agent), events, timeout)
    return {("hooks", event): entry for event, entry in entries.items()}


def _make_opencode_file(folder: Path, program: Sequence[str]) -> JsonFile:
    commented = folder / "opencode.jsonc"
    path = commented if commented.exists() else folder / "opencode.json"
    entry = {"type": "local", "command": [*program, "mcp"], "enabled": True}
    return JsonFile(path, {("mcp", NAME): entry})


def _format_codex_server(program: Sequence[str]) -> str:
    command, arguments = json.dumps(program[0]), json.dumps([*program[1:], "mcp"])
    return f"[mcp_servers.{NAME}]\ncommand = {command}\nargs = {arguments}"


def _format_kimi_hooks(program: Sequence[str]) -> str:
    command = json.dumps(make_hook_command(program, "kimi"))
    return "\n".join(
        f'[[hooks]]\nevent = "{event}"\ncommand = {command}\ntimeout = {SECONDS}'
        for event in EVENTS
    )
