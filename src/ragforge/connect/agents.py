"""Agents: which there are, where their configuration is, and what RagForge adds to it."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from ragforge.connect.config_file import ConfigFile, JsonFile, Keys, TomlFile
from ragforge.records import dataclass

Entries: TypeAlias = dict[Keys, Any]
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

    def group(agent: str, events: Sequence[str] = EVENTS, timeout: int = SECONDS) -> Entries:
        entries = group_hooks(agent, make_hook_command(program, agent), events, timeout)
        return {("hooks", event): entry for event, entry in entries.items()}

    command = {"command": program[0], "args": [*program[1:], "mcp"]}
    server: Entries = {("mcpServers", NAME): command}
    typed: Entries = {("mcpServers", NAME): {"type": "stdio", **command}}
    local: Entries = {("mcpServers", NAME): {"type": "local", **command, "tools": ["*"]}}
    cursor_hook = {"command": make_hook_command(program, "cursor")}
    cursor_hooks: Entries = {("hooks", event): cursor_hook for event in CURSOR_EVENTS}
    gemini_hooks = group("gemini", GEMINI_EVENTS, 1_000 * SECONDS)
    gemini_file = JsonFile(gemini / "settings.json", server, gemini_hooks)
    qwen_file = JsonFile(qwen / "settings.json", server, group("qwen"))
    claude_files = (
        JsonFile(state / ".claude.json", typed),
        JsonFile(claude / "settings.json", hooks=group("claude-code")),
    )
    codex_files = (
        TomlFile(codex / "config.toml", _format_codex_server(program)),
        JsonFile(codex / "hooks.json", hooks=group("codex", EVENTS[:4])),
    )
    cursor_files = (
        JsonFile(cursor / "mcp.json", server),
        JsonFile(cursor / "hooks.json", hooks=cursor_hooks, needs={("version",): 1}),
    )
    kimi_files = (
        JsonFile(kimi / "mcp.json", server),
        TomlFile(kimi / "config.toml", _format_kimi_hooks(program)),
    )
    trust_hooks = "Codex asks you once to trust the hooks: /hooks."
    return [
        Agent("claude-code", "Claude Code", claude, claude_files),
        Agent("codex", "Codex CLI", codex, codex_files, trust_hooks),
        Agent("gemini", "Gemini CLI", gemini, (gemini_file,)),
        Agent("opencode", "opencode", opencode, (_make_opencode_file(opencode, program),)),
        Agent("cursor", "Cursor", cursor, cursor_files),
        Agent("copilot", "Copilot CLI", copilot, (JsonFile(copilot / "mcp-config.json", local),)),
        Agent("qwen", "Qwen Code", qwen, (qwen_file,)),
        Agent("kimi", "Kimi", kimi, kimi_files),
    ]


def make_hook_command(program: Sequence[str], agent: str) -> str:
    """Return the line that an agent's shell runs for a hook: `sh`, or on Windows one of several."""
    if sys.platform == "win32":  # bash and cmd both take slashes and double quotes
        from subprocess import list2cmdline

        line = list2cmdline([part.replace("\\", "/") for part in program])
    else:
        line = shlex.join(program)
    return f"{line} hook --agent {agent}"


def group_hooks(
    agent: str, command: str, events: Sequence[str], timeout: int = SECONDS
) -> dict[str, Any]:
    """Return event → its entry, in the form that Claude Code and others share.

    A matcher keeps the agent from starting a process for tools that touch no file.
    """
    group = {"hooks": [{"type": "command", "command": command, "timeout": timeout}]}
    event, tools = FILE_TOOLS[agent]
    return {**dict.fromkeys(events, group), event: {"matcher": tools, **group}}


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
