"""Toolbox: which tools there are for one project."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ragforge.brain.project import Brain
from ragforge.llm.calls import Tool
from ragforge.memory.notes import Notebook
from ragforge.memory.recall import Recall
from ragforge.ports.store import Store
from ragforge.tools.command.agent_tool import command_tool
from ragforge.tools.command.run import CommandRunner
from ragforge.tools.edit_file import edit_tool
from ragforge.tools.edits.editor import Editor
from ragforge.tools.edits.journal import Journal
from ragforge.tools.explore_code import explore_tool
from ragforge.tools.git import git_tools
from ragforge.tools.glob_files import glob_tool
from ragforge.tools.grep_files import grep_tool
from ragforge.tools.list_files import list_tool
from ragforge.tools.permission import Permit
from ragforge.tools.plan import plan_tool
from ragforge.tools.read_file import read_tool
from ragforge.tools.read_memory import read_memory_tool
from ragforge.tools.remember import remember_tool
from ragforge.tools.search_code import code_tool
from ragforge.tools.search_files import search_tool
from ragforge.tools.search_memory import memory_tool
from ragforge.tools.sessions_about import sessions_about_tool
from ragforge.tools.workspace import Workspace
from ragforge.tools.write_file import write_tool


def reading_tools(workspace: Workspace) -> tuple[Tool, ...]:
    """Return the tools that look at files."""
    makers = (grep_tool, search_tool, read_tool, list_tool, glob_tool)
    return tuple(make(workspace) for make in makers)


@dataclass(frozen=True, slots=True)
class Toolbox:
    """All that tools of one project work with."""

    workspace: Workspace
    runner: CommandRunner
    brain: Brain
    recall: Recall
    notebook: Notebook
    store: Store
    project_path: str
    hidden: Collection[str] = ()  # variables that no command gets to see

    def looking(self) -> tuple[Tool, ...]:
        """Return the tools that a model may use without asking anyone."""
        return (
            *reading_tools(self.workspace),
            code_tool(self.brain),
            explore_tool(self.brain),
            memory_tool(self.recall, self.notebook, self.project_path),
            read_memory_tool(self.store, self.project_path),
            sessions_about_tool(self.store, self.project_path, self.runner),
            *git_tools(self.runner),
        )

    def noting(self, conversation_id: str) -> Tool:
        """Return the tool that keeps notes; it changes nothing but what is remembered."""
        return remember_tool(self.notebook, self.project_path, conversation_id)

    def acting(self, journal: Journal, permit: Permit) -> tuple[Tool, ...]:
        """Return the tools that change something, each time with the user's permission."""
        editor = Editor(self.workspace, journal, permit)
        return (
            write_tool(editor),
            edit_tool(editor),
            command_tool(self.runner, permit, self.hidden),
            plan_tool(),
        )
