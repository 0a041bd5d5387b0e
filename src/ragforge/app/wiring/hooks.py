"""The hooks of a project and its user, as the settings name them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.agent.hooks import Hook, Hooks
from ragforge.config.environment import PREFIX
from ragforge.config.services import SERVICES
from ragforge.config.settings import Settings
from ragforge.domain.text import Json

if TYPE_CHECKING:
    from ragforge.tools.command.hook_command import HookOutput


def open_hooks(settings: Settings, cwd: Path, root: Path, started: dict[str, str]) -> Hooks:
    """Return the hooks that run in the root of a project.

    Those of the project always run in a sandbox: the model can change the code that they run.
    """
    names = tuple(settings.tools.environment.split())

    async def run(hook: Hook, payload: Json) -> HookOutput:
        from ragforge.tools.command.approved import ApprovedCommands
        from ragforge.tools.command.hook_command import run_hook

        confined = ApprovedCommands(str(root.resolve()), "required", names)
        variables = None if hook.sandbox else _select()
        return await run_hook(confined, hook.command, hook.seconds, variables, payload)

    facts = {"cwd": str(cwd), "project": str(root)}
    return Hooks(tuple(_list(settings)), run, facts, started)


def _list(settings: Settings) -> Iterator[Hook]:
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


def _select() -> Mapping[str, str]:
    """Return the user's environment without RagForge's settings and the keys of models."""
    ours = {name for service in SERVICES.values() for name in service.variables}
    return {
        name: value
        for name, value in os.environ.items()
        if name not in ours and not name.startswith(PREFIX)
    }
