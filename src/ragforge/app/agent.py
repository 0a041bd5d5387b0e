"""Turns: the agent with its tools, wired."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.agent.delegate import Delegation, delegate_tool
from ragforge.agent.permissions import Permissions
from ragforge.agent.rules import Rules
from ragforge.agent.turn import Agent, TurnEnvironment, TurnLimits
from ragforge.config.keys import VARIABLES
from ragforge.context.instructions import InnerInstructions, add_inner_instructions
from ragforge.llm.calls import Tool
from ragforge.tools.batch_analyze import analyze_tool
from ragforge.tools.command.run import CommandRunner
from ragforge.tools.edits.journal import Journal
from ragforge.tools.toolbox import Toolbox
from ragforge.tools.workspace import Workspace

if TYPE_CHECKING:
    from ragforge.app.application import App

KEYS = frozenset(name for names in VARIABLES.values() for name in names)
RECALLING = frozenset({"search_memory", "read_memory"})
"""Tools that a model does not have where memory is only written."""
SECRETS = KEYS | {"RAGFORGE_NEO4J_USER", "RAGFORGE_NEO4J_PASSWORD"}


def rules_of(app: App) -> Rules:
    """Return what the user allowed or forbade for good in this project."""
    return Rules.of(Path(app.settings.agent.state_dir), app.project_path)


def open_agent(app: App) -> Agent:
    """Return the agent of a project, with all its tools."""
    turn = app.settings.agent.turn
    limits = TurnLimits(turn.max_steps, turn.max_seconds, turn.max_spend_usd, turn.max_result_chars)
    state, rules = Path(app.settings.agent.state_dir), rules_of(app)
    box = Toolbox(
        Workspace.at(app.project_path),
        CommandRunner(app.project_path),
        app.brain,
        app.recall,
        app.notebook,
        app.store,
        str(app.project_path),
        SECRETS,
    )

    left_out = {tool.spec.name for tool in app.tools}  # the program's own take their places
    if not app.settings.agent.memory.enabled:
        left_out |= RECALLING

    def equip(desk: TurnEnvironment) -> Sequence[Tool]:
        permissions = Permissions(rules, desk.approve)
        inner = InnerInstructions(app.project_path, app.cwd)
        looking = [tool for tool in box.looking() if tool.spec.name not in left_out]
        looking = [add_inner_instructions(tool, inner) for tool in looking]
        others = (
            *box.acting(Journal.of(state, desk.conversation_id), permissions.require_permission),
            box.noting(desk.conversation_id),
            analyze_tool(desk.asker),
            delegate_tool(Delegation(desk.asker, looking, desk.on_event)),
        )
        return (
            *looking,
            *(tool for tool in others if tool.spec.name not in left_out),
            *app.tools,
        )

    return Agent(app.context, app.recorder, app.chat, equip, limits)
