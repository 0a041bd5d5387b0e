"""run_command of the agent, before the user is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge.errors import Declined, InputError
from ragforge.tools.command.approved import ApprovedCommands
from ragforge.tools.command.background import BackgroundCommands
from ragforge.tools.command.command_tools import AgentCommandArguments, run_command
from ragforge.tools.command.run import CommandResult, CommandRunner
from ragforge.tools.permission import PermissionRequest


async def test_the_user_is_not_asked_about_a_command_in_a_missing_directory(
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


@pytest.mark.parametrize("modifies_files", [True, False])
async def test_a_line_that_is_said_to_modify_files_needs_permission(
    tmp_path: Path, modifies_files: bool
) -> None:
    async def decline(request: PermissionRequest) -> None:
        raise Declined(request.subject)

    given = AgentCommandArguments(command="ls", modifies_files=modifies_files)
    approved = ApprovedCommands(str(tmp_path.resolve()), sandbox="off")
    runner = CommandRunner(tmp_path, sandbox="off")
    running = run_command(runner, approved, decline, given, BackgroundCommands())
    if modifies_files:
        with pytest.raises(Declined):
            await running
    else:
        result = await running
        assert isinstance(result, CommandResult)
        assert result.exit_code == 0
