"""Searches of the files before an answer, which load when a message calls for one."""

from __future__ import annotations

from pathlib import Path

from ragforge.llm.calls import Tool
from ragforge.tools.command.command_tools import make_read_only_command_tool
from ragforge.tools.command.run import CommandRunner
from ragforge.tools.command.sandbox.choose import Mode
from ragforge.tools.grep_files import make_grep_tool
from ragforge.tools.search_files import make_search_tool
from ragforge.tools.workspace import Workspace

FOUND_LINES = {"context_lines": 0}
"""The planner does not choose this: the lines around a hit are read once, for all hits."""

IN_TIME = 0.8
"""The share of its time after which a search returns what it has found so far."""


def make_file_searches(root: Path, seconds: float, sandbox: Mode) -> dict[str, Tool]:
    """Return the tools that search the files of a project, by their names."""
    workspace = Workspace.at(root)
    tools = [
        make_grep_tool(workspace, FOUND_LINES, IN_TIME * seconds),
        make_search_tool(workspace, FOUND_LINES, IN_TIME * seconds),
        make_read_only_command_tool(CommandRunner(root, sandbox=sandbox)),
    ]
    return {tool.spec.name: tool for tool in tools}
