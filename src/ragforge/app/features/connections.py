"""Connections: add RagForge to other agents' configuration, and remove it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from ragforge import __version__
from ragforge.app.hook import hook_settings
from ragforge.app.hook.report import HookReport, read_hook_report
from ragforge.child_python import python_command
from ragforge.config.settings import Settings
from ragforge.connect.agents import Agent, list_agents
from ragforge.connect.changes import (
    Change,
    apply,
    format_diff,
    plan_connect,
    plan_disconnect,
    write_plugin,
)
from ragforge.connect.excluded import add_excluded, list_excluded
from ragforge.connect.ledger import Ledger
from ragforge.errors import InputError
from ragforge.records import dataclass

# For the doors, from the rooms below.
__all__ = ["Change", "format_diff"]


@dataclass(frozen=True, slots=True)
class Connections:
    """The agents on this machine, and whether RagForge is in their configuration."""

    agents: tuple[Agent, ...]
    home: Path
    state_dir: Path
    excluded: tuple[str, ...]
    deadline_ms: int = 0  # of hooks

    @classmethod
    def of(cls, settings: Settings) -> Connections:
        """Return the connections of the user."""
        home, state = Path.home(), Path(settings.agent.state_dir)
        return cls(
            tuple(list_agents(home, os.environ, find_program())),
            home,
            state,
            list_excluded(settings.connect.exclude, state),
            settings.hook.deadline_ms,
        )

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.state_dir)

    def find(self, names: Sequence[str]) -> list[Agent]:
        """Return the agents with these names, or all that are installed. Raises InputError."""
        if unknown := [name for name in names if name not in {one.name for one in self.agents}]:
            every = ", ".join(one.name for one in self.agents)
            raise InputError(f"There is no agent {unknown[0]!r}. Known agents: {every}.")
        if not names:
            return [one for one in self.agents if one.is_installed]
        chosen = [one for one in self.agents if one.name in names]
        for one in chosen:
            if not one.is_installed:
                raise InputError(f"{one.title} is not installed: {one.folder} does not exist.")
        return chosen

    def plan(self, agents: Sequence[Agent]) -> list[Change]:
        """Return what connecting changes."""
        return [change for agent in agents for change in plan_connect(agent, self.home)]

    def plan_removal(self, agents: Sequence[Agent]) -> list[Change]:
        """Return what disconnecting changes."""
        return [
            change for agent in agents for change in plan_disconnect(agent, self.home, self.ledger)
        ]

    def connect(self, change: Change) -> None:
        """Make a change. Raises InputError if it cannot be made."""
        apply(change, self.ledger, connecting=True)

    def disconnect(self, change: Change) -> None:
        """Make a change that removes RagForge. Raises InputError if it cannot be made."""
        apply(change, self.ledger, connecting=False)

    def is_connected(self, agent: Agent) -> bool:
        """Tell whether all of our entries are in an agent's configuration."""
        return all(not one.is_needed and not one.problem for one in self.plan([agent]))

    def prepare_hook(self) -> None:
        """Store the settings of hooks, so that the first hook is fast."""
        hook_settings.prepare()

    def report_hooks(self) -> HookReport:
        """Return a report about the last hooks of all agents."""
        return read_hook_report(self.state_dir, self.deadline_ms)

    def exclude(self, folder: Path) -> None:
        """Exclude a folder from context and imports. Raises InputError."""
        try:
            add_excluded(folder, self.state_dir)
        except OSError as error:
            raise InputError(f"{self.state_dir} cannot be written: {error.strerror}.") from error

    def write_plugin(self, folder: Path) -> list[Path]:
        """Write a plugin for Claude Code into a folder. Raises InputError."""
        return write_plugin(folder, __version__)


def find_program() -> tuple[str, ...]:
    """Return the command that starts RagForge, as another program can run it."""
    found = shutil.which("ragforge")
    return (found,) if found else tuple(python_command("ragforge"))
