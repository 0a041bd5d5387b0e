"""Plugin: RagForge as a plugin of Claude Code, instead of entries in its settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragforge.connect.agents import EVENTS, NAME, group_hooks, make_hook_command
from ragforge.errors import InputError

PROGRAM = ("ragforge",)
DESCRIPTION = "One memory for every coding agent: what was said, done and decided in this project."
SKILL = """---
name: ragforge-memory
description: Ask the project's memory. Use it when the user refers to earlier work ("as we did", \
"why did we", "last week"), before changing code whose history matters, and when a decision, a \
bug or a failed attempt may have been discussed before.
---

# The project's memory

RagForge remembers the sessions of every coding agent in this project. Ask it with its tools:

- `recall` with the words of the question: past turns, summaries and notes.
- `related` with a file or a function: which sessions touched it, and what changed after.
- `open` with an id from an answer: all of it.
- `remember` when the user decides something that later sessions should know.

What comes back is what was said then. The code may have changed since: check it before you rely
on it. Nothing found means that nothing was said about it.
"""


def make_plugin() -> Mapping[str, str]:
    """Return the files of the plugin, by their paths in its folder."""
    about = {"name": NAME, "description": DESCRIPTION, "version": "0.1.0"}
    market = {
        "name": NAME,
        "owner": {"name": "RagForge"},
        "plugins": [{"name": NAME, "source": "./", "description": DESCRIPTION}],
    }
    entries = group_hooks("claude-code", make_hook_command(PROGRAM, "claude-code"), EVENTS)
    listed = {event: [entry] for event, entry in entries.items()}
    hooks = {"description": DESCRIPTION, "hooks": listed}
    server = {"mcpServers": {NAME: {"command": PROGRAM[0], "args": ["mcp"]}}}
    return {
        ".claude-plugin/plugin.json": _format(about),
        ".claude-plugin/marketplace.json": _format(market),
        "hooks/hooks.json": _format(hooks),
        ".mcp.json": _format(server),
        "skills/ragforge-memory/SKILL.md": SKILL,
    }


def write_plugin(folder: Path) -> list[Path]:
    """Write the plugin into a folder, which may hold an earlier one. Raises InputError."""
    written: list[Path] = []
    try:
        for name, text in make_plugin().items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            written.append(path)
    except OSError as error:
        raise InputError(f"{error.filename} cannot be written: {error.strerror}.") from error
    return written


def _format(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"
