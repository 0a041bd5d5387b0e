"""Changes: what connecting does to files, first as a plan and then on the disk."""

from __future__ import annotations

import difflib
import json
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragforge.connect.agents import EVENTS, NAME, Agent, group_hooks, make_hook_command
from ragforge.connect.config_file import ConfigFile
from ragforge.connect.ledger import Ledger
from ragforge.errors import InputError
from ragforge.private_files import replace_file
from ragforge.records import dataclass
from ragforge.resources import read_resource

MAX_BYTES = 50_000_000

PROGRAM = ("ragforge",)
DESCRIPTION = "One memory for every coding agent: what was said, done and decided in this project."


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one file."""

    agent: str
    path: Path  # as the agent calls it
    target: Path  # where it really is
    before: bytes | None  # None: there is no file
    after: bytes | None  # None: it is removed
    problem: str = ""  # why it is left alone, and what to do
    without: bytes | None = None  # the file without entries of ours

    @property
    def is_needed(self) -> bool:
        return not self.problem and self.before != self.after


def plan_connect(agent: Agent, home: Path) -> Iterator[Change]:
    """Yield what connecting an agent changes, file by file."""
    for file in agent.files:
        yield _plan(agent, file, home, file.add, None)


def plan_disconnect(agent: Agent, home: Path, ledger: Ledger) -> Iterator[Change]:
    """Yield what disconnecting an agent changes.

    A file that was not changed since is restored byte for byte. From others only our entries are
    removed.
    """
    for file in agent.files:
        yield _plan(agent, file, home, file.remove, ledger)


def apply(change: Change, ledger: Ledger, *, connecting: bool) -> None:
    """Make a change. Raises InputError if the file has changed since the plan, or cannot be
    written.
    """
    try:
        if _read(change.target) != change.before:
            raise InputError(f"{change.path} has changed meanwhile. Run the command again.")
        if connecting:
            ledger.note(change.agent, change.target, change.before, change.after, change.without)
        if change.after is None:
            change.target.unlink(missing_ok=True)
        else:
            mode = (
                stat.S_IMODE(change.target.stat().st_mode) if change.before is not None else 0o600
            )
            replace_file(str(change.target), change.after, mode)
        if not connecting:
            ledger.forget(change.target)
    except OSError as error:
        raise InputError(f"{change.path} cannot be written: {error.strerror}.") from error


def format_diff(changes: Sequence[Change]) -> str:
    """Return changes as a unified diff."""
    lines: list[str] = []
    for change in changes:
        old, new = (_decode(data or b"").splitlines() for data in (change.before, change.after))
        name = str(change.path)
        first = name if change.before is not None else "/dev/null"
        second = name if change.after is not None else "/dev/null"
        lines += difflib.unified_diff(old, new, first, second, lineterm="")
    return "\n".join(lines)


def _plan(
    agent: Agent, file: ConfigFile, home: Path, edit: Callable[..., str], ledger: Ledger | None
) -> Change:
    path = file.path
    target = path.resolve()
    before: bytes | None = None
    try:
        if path.is_symlink() and not target.is_relative_to(home.resolve()):
            raise InputError(f"it is a link to {target}, outside of your home")
        before = _read(target)
        without: bytes | None = None
        if ledger is None:
            text = None if before is None else _decode(before)
            after: bytes | None = edit(text).encode()
            without = None if text is None else file.remove(text).encode()
        else:
            after = None if before is None else _undo(file, target, before, ledger)
    except (InputError, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        return Change(agent.name, path, target, before, before, f"{path} is left alone: {why}.")
    return Change(agent.name, path, target, before, after, without=without)


def _undo(file: ConfigFile, target: Path, before: bytes, ledger: Ledger) -> bytes | None:
    is_ours, original = ledger.find_original(target, before)
    if is_ours:
        return original
    text = file.remove(_decode(before))
    if ledger.was_created(target) and file.is_hollow(text):
        return None
    return text.encode()


def _read(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    if len(data) > MAX_BYTES:
        raise InputError(f"it is larger than {MAX_BYTES:,} bytes")
    return data


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise InputError("it is not valid UTF-8") from None


def make_plugin(version: str) -> Mapping[str, str]:
    """Return the files of the plugin, by their paths in its folder."""
    about = {"name": NAME, "description": DESCRIPTION, "version": version}
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
        "skills/ragforge-memory/SKILL.md": read_resource("connect/skill.md"),
    }


def write_plugin(folder: Path, version: str) -> list[Path]:
    """Write the plugin into a folder, which may hold an earlier one. Raises InputError."""
    written: list[Path] = []
    try:
        for name, text in make_plugin(version).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            written.append(path)
    except OSError as error:
        raise InputError(f"{error.filename} cannot be written: {error.strerror}.") from error
    return written


def _format(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"
