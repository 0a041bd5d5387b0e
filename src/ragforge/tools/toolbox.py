"""Toolbox: all tools that only look, for one project."""

from __future__ import annotations

from ragforge.llm.calls import Tool
from ragforge.tools.glob_files import glob_tool
from ragforge.tools.grep_files import grep_tool
from ragforge.tools.list_files import list_tool
from ragforge.tools.read_file import read_tool
from ragforge.tools.search_files import search_tool
from ragforge.tools.workspace import Workspace


def reading_tools(workspace: Workspace) -> tuple[Tool, ...]:
    """Return the tools that a model may use without asking anyone."""
    makers = (grep_tool, search_tool, read_tool, list_tool, glob_tool)
    return tuple(make(workspace) for make in makers)
