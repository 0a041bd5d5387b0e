"""run_command of the agent, before the user is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge.errors import InputError
from ragforge.tools.command.agent_tool import AgentCommandArguments, run_command
from ragforge.tools.command.approved import ApprovedCommands
from ragforge.tools.command.background import BackgroundCommands
from ragforge.tools.command.run import CommandRunner
from ragforge.tools.permission import PermissionRequest


async def test_nobody_is_asked_about_a_command_in_a_directory_that_is_missing(
    tmp_path: Path,
) -> None:
    asked: list[PermissionRequest] = []

    async def permit(request: PermissionRequest) -> None:
        asked.append(request)

    given = AgentCommandArguments(command="python3 test_cart.py", cwd="project")
    approved = ApprovedCommands(str(tmp_path.resolve()), sandbox="off")
    with pytest.raises(InputError, match="There is no directory 'project'"):
        await run_command(CommandRunner(tmp_path), approved, permit, given, BackgroundCommands())
    assert asked == []
