"""Turns: the agent with its tools, wired."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.agent.permissions import Permissions
from ragforge.agent.rules import Rules
from ragforge.agent.turn import Agent, Desk, TurnLimits
from ragforge.llm.calls import Tool
from ragforge.tools.toolbox import reading_tools
from ragforge.tools.workspace import Workspace

if TYPE_CHECKING:
    from ragforge.app.application import App


def rules_of(app: App) -> Rules:
    """Return what the user allowed or forbade for good in this project."""
    return Rules(Path(app.settings.agent.state_dir) / "permissions.json", app.project_path)


def open_agent(app: App) -> Agent:
    """Return the agent of a project, with all its tools."""
    turn = app.settings.agent.turn
    limits = TurnLimits(turn.max_steps, turn.max_seconds, turn.max_spend_usd)
    rules = rules_of(app)

    def equip(desk: Desk) -> Sequence[Tool]:
        Permissions(rules, desk.approve)
        return reading_tools(Workspace.at(app.project_path))

    return Agent(app.context, app.recorder, app.chat, equip, limits)
