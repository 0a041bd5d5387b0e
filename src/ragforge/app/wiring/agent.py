"""The agent of a project, and the hooks of its user, as the settings name them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ragforge.agent.hooks import Hook, Hooks
from ragforge.agent.services import TurnServices
from ragforge.agent.turn import Agent, TurnLimits
from ragforge.app.wiring.open_project import OpenProject
from ragforge.config.dotted_keys import PREFIX
from ragforge.config.services import SERVICES
from ragforge.config.settings import Settings
from ragforge.context.build import ContextBuilder
from ragforge.domain.text import Json

if TYPE_CHECKING:
    from ragforge.tools.command.approved import HookOutput


def open_agent(project: OpenProject, services: TurnServices, context: ContextBuilder) -> Agent:
    """Return the agent that answers with these services, within the limits of the settings."""
    turn = project.settings.agent.turn
    limits = TurnLimits(turn.max_steps, turn.max_seconds, turn.max_spend_usd, turn.max_result_chars)
    return Agent(context, project.recorder, project.chat, services, limits)


def open_hooks(project: OpenProject) -> Hooks:
    """Return the hooks that run in the root of a project.

    Those of the project always run in a sandbox: the model can change the code that they run.
    """
    settings, root = project.settings, project.project_path
    names = tuple(settings.tools.environment.split())

    async def run(hook: Hook, payload: Json) -> HookOutput:
        from ragforge.tools.command.approved import ApprovedCommands, run_hook

        confined = ApprovedCommands(str(root.resolve()), "required", names)
        variables = None if hook.sandbox else _select_variables()
        return await run_hook(confined, hook.command, hook.seconds, variables, payload)

    facts = {"cwd": str(project.cwd), "project": str(root)}
    return Hooks(tuple(_list_hooks(settings)), run, facts, project.started)


def _list_hooks(settings: Settings) -> Iterator[Hook]:
    for name, entry in settings.agent.hooks.items():
        yield Hook(
            name,
            entry.event,
            entry.command,
            tuple(entry.tools.replace("|", " ").split()) or ("*",),
            entry.timeout,
            entry.by_project,
            entry.sandbox or entry.by_project,
        )


def _select_variables() -> Mapping[str, str]:
    """Return the user's environment without RagForge's settings and the keys of models."""
    ours = {name for service in SERVICES.values() for name in service.variables}
    return {
        name: value
        for name, value in os.environ.items()
        if name not in ours and not name.startswith(PREFIX)
    }
