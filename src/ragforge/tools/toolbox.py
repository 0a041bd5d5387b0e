"""Toolbox: which tools there are for one project."""

from __future__ import annotations

from collections.abc import Sequence

from ragforge.brain.project import Brain
from ragforge.domain.projects import ProjectPlace
from ragforge.llm.calls import Tool
from ragforge.memory.notes import Notebook
from ragforge.memory.search.turns import MemorySearch
from ragforge.ports.open_files import OpenFiles
from ragforge.ports.store import Store
from ragforge.ports.web import WebSearcher
from ragforge.records import dataclass
from ragforge.tools.command.approved import ApprovedCommands, OnOutput
from ragforge.tools.command.background import BackgroundCommands
from ragforge.tools.command.command_tools import make_command_tool, make_output_tool
from ragforge.tools.command.run import CommandRunner
from ragforge.tools.edit_files import Editor, make_edit_tool, make_write_tool
from ragforge.tools.edits.change import Journal
from ragforge.tools.explore_code import make_explore_tool
from ragforge.tools.fetch_url import PageFetcher, make_fetch_tool
from ragforge.tools.git import make_git_tools
from ragforge.tools.grep_files import make_grep_tool
from ragforge.tools.list_files import make_glob_tool, make_list_tool
from ragforge.tools.memory_tools import (
    make_memory_tool,
    make_read_memory_tool,
    make_remember_tool,
    make_sessions_about_tool,
)
from ragforge.tools.permission import Permit
from ragforge.tools.plan import make_plan_tool
from ragforge.tools.prompt_files import PromptFile, make_skill_tool
from ragforge.tools.read_file import make_read_tool
from ragforge.tools.search_code import make_code_tool
from ragforge.tools.search_files import make_search_tool
from ragforge.tools.web_search import make_web_search_tool
from ragforge.tools.workspace import Workspace


def make_file_tools(workspace: Workspace, files: OpenFiles | None = None) -> tuple[Tool, ...]:
    """Return the tools that read and search files."""
    return (
        make_grep_tool(workspace),
        make_search_tool(workspace),
        make_read_tool(workspace, files=files),
        make_list_tool(workspace),
        make_glob_tool(workspace),
    )


@dataclass(frozen=True, slots=True)
class Toolbox:
    """What the tools of one project need."""

    workspace: Workspace
    runner: CommandRunner
    approved: ApprovedCommands
    background: BackgroundCommands
    brain: Brain
    recall: MemorySearch
    notebook: Notebook
    store: Store
    project: ProjectPlace
    pages: PageFetcher
    searcher: WebSearcher | None = None  # the user chose no service

    def make_reading_tools(self, files: OpenFiles | None = None) -> tuple[Tool, ...]:
        """Return the tools that a model may use without permission."""
        return (
            *make_file_tools(self.workspace, files),
            make_code_tool(self.brain),
            make_explore_tool(self.brain),
            *self.make_memory_tools(),
            make_sessions_about_tool(self.store, self.project, self.runner),
            *make_git_tools(self.runner),
        )

    def make_memory_tools(self) -> tuple[Tool, ...]:
        """Return the tools that only look into memory."""
        return (
            make_memory_tool(self.recall, self.notebook, self.project),
            make_read_memory_tool(self.store, self.project),
        )

    def make_skill_tools(self, skills: Sequence[PromptFile]) -> tuple[Tool, ...]:
        """Return the tool that reads skills, if there are any."""
        return (make_skill_tool(skills),) if skills else ()

    def make_web_tools(self, permit: Permit) -> tuple[Tool, ...]:
        """Return the tools that read web pages and search the web, with the user's permission."""
        fetch = make_fetch_tool(self.pages, permit)
        if self.searcher is None:
            return (fetch,)
        return make_web_search_tool(self.searcher, permit), fetch

    def make_note_tool(self, conversation_id: str) -> Tool:
        """Return the tool that writes notes; it changes nothing but memory."""
        return make_remember_tool(self.notebook, self.project, conversation_id)

    def make_changing_tools(
        self,
        journal: Journal,
        permit: Permit,
        files: OpenFiles | None = None,
        on_output: OnOutput | None = None,
    ) -> tuple[Tool, ...]:
        """Return the tools that change something, each time with the user's permission.

        `on_output` receives what commands print, as it comes.
        """
        editor = Editor(self.workspace, journal, permit, files)
        return (
            make_write_tool(editor),
            make_edit_tool(editor),
            make_command_tool(self.runner, self.approved, permit, self.background, on_output),
            make_output_tool(self.background),
            make_plan_tool(),
        )
