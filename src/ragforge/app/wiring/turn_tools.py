"""The tools of a turn: the project's, those of servers and the program's own.

Only a chat model uses them, so a turn without one does not load them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ragforge.adapters.web.reader import HttpReader, open_brave, open_searxng, open_tavily
from ragforge.agent import delegate
from ragforge.agent.environment import TurnEnvironment
from ragforge.agent.events import CommandPrinted
from ragforge.agent.hooks import Hooks
from ragforge.agent.permissions import Permissions
from ragforge.agent.rules import PermissionRules
from ragforge.app.wiring.open_project import OpenProject
from ragforge.config.services import SEARCH_KEYS, explain_key, find_search_key
from ragforge.config.settings import ToolSettings
from ragforge.context.instructions import InnerInstructions, add_inner_instructions
from ragforge.errors import FetchFailed
from ragforge.llm.ask import ChatClient
from ragforge.llm.calls import Tool
from ragforge.memory.notes import Notebook
from ragforge.ports.web import FoundPage, WebSearcher
from ragforge.records import dataclass
from ragforge.tools.batch_analyze import make_analyze_tool
from ragforge.tools.command.approved import ApprovedCommands
from ragforge.tools.command.run import CommandRunner
from ragforge.tools.edits.change import Journal
from ragforge.tools.fetch_url import KeepPage, PageFetcher
from ragforge.tools.mentions import MentionReader
from ragforge.tools.permission import Permit
from ragforge.tools.prompt_files import PromptFolders
from ragforge.tools.server_tools import make_server_tools
from ragforge.tools.toolbox import Toolbox
from ragforge.tools.workspace import Workspace

RECALLING = frozenset({"search_memory", "read_memory"})
"""Tools that a model does not have where memory is only written."""
WRITING = frozenset({"write_file", "edit_file", "remember"})
"""Tools that a model does not have in plan mode. What others want to change is declined there."""

ASKING = frozenset({"write_file", "edit_file", "run_command", "fetch_url", "web_search"})
"""Tools that ask for permission themselves; tools of servers do, too."""

NO_ADDRESS = "A search with SearXNG needs the address of a server: set tools.web_search.url."


def make_turn_tools(
    project: OpenProject,
    toolbox: Toolbox,
    rules: PermissionRules,
    prompts: PromptFolders,
    hooks: Hooks,
    turn: TurnEnvironment,
    chat: ChatClient,
) -> Sequence[Tool]:
    """Return the tools of a turn.

    Where files are not to be read, there is memory and no tool that touches files.
    """
    settings, trust = project.settings.agent, project.trust
    left_out = {tool.spec.name for tool in project.tools}  # the program's own take their places
    if not settings.memory.enabled:
        left_out |= RECALLING
    permissions = Permissions(rules, turn.approve, turn.mode)
    plans = turn.mode == "plan"
    absent = left_out | WRITING if plans else left_out
    reads = trust.reads
    found = toolbox.make_reading_tools(turn.files) if reads else toolbox.make_memory_tools()
    skills = toolbox.make_skill_tools(prompts.find("skills"))
    looking = [tool for tool in (*found, *skills) if tool.spec.name not in left_out]
    if trust.obeys:
        inner = InnerInstructions(Path(toolbox.project.path), project.cwd)
        looking = [add_inner_instructions(tool, inner) for tool in looking]
    journal = Journal.of(project.state_dir, turn.conversation_id)
    permit = permissions.require_permission
    # What servers change is not known: a plan is made without them.
    called = () if plans else make_server_tools(project.servers, permit)
    asking = ASKING | {tool.spec.name for tool in called}

    def watch(tools: Iterable[Tool], permit: Permit = permit) -> list[Tool]:
        return [hooks.watch(tool, turn, permit, asks=tool.spec.name in asking) for tool in tools]

    looking = watch(looking)

    def make_working_tools(permit: Permit) -> list[Tool]:
        """Return the tools that ask for permission, in the mode of the session or another."""
        changing = toolbox.make_changing_tools(
            journal, permit, turn.files, lambda text: turn.on_event(CommandPrinted(text))
        )
        return [*(changing if reads else ()), *toolbox.make_web_tools(permit)]

    def make_kind(file: delegate.AgentFile) -> delegate.SubAgentKind:
        mode = file.limit_mode(turn.mode)
        works = mode != "plan"
        inner = replace(permissions, mode=mode).require_permission
        tools = [*looking, *(watch(make_working_tools(inner), inner) if works else ())]
        chosen = file.select(tools)
        changes = any(tool not in looking for tool in chosen)
        open_chat = partial(_open_chat, project, file.model, chat)
        return delegate.SubAgentKind(file, chosen, changes, open_chat)

    limits = settings.sub_agents
    delegation = delegate.Delegation(
        chat,
        looking,
        turn.on_event,
        [make_kind(file) for file in delegate.read_agent_files(prompts.find("agents"))],
        delegate.SubAgentBudget(
            delegate.SubAgentLimits(limits.max_calls, limits.max_tokens, limits.max_seconds)
        ),
    )
    others = (
        *make_working_tools(permit),
        toolbox.make_note_tool(turn.conversation_id),
        make_analyze_tool(chat),
        delegate.make_delegate_tool(delegation),
    )
    offered = [tool for tool in others if tool.spec.name not in absent]
    own = () if plans else (*called, *project.tools)
    return (*looking, *watch((*offered, *own)))


def open_mentions(
    turn: TurnEnvironment, project: OpenProject, toolbox: Toolbox, rules: PermissionRules
) -> MentionReader:
    """Return what reads the files, folders and pages that the question of a turn names."""
    trust = project.trust
    return MentionReader(
        toolbox.workspace,
        toolbox.brain,
        toolbox.pages,
        Permissions(rules, turn.approve, turn.mode).require_permission,
        "" if trust.reads else trust.describe_unread(),
        turn.files,
    )


def _open_chat(project: OpenProject, name: str | None, chat: ChatClient) -> ChatClient:
    """Return the model of a sub-agent, which counts for the turn. Raises InputError."""
    return chat if name is None else replace(project.open_model(name), meter=chat.meter)


def open_toolbox(project: OpenProject, notebook: Notebook, keep_page: KeepPage) -> Toolbox:
    """Return the tools of a project, in its folder."""
    settings, root = project.settings.tools, project.project_path
    fetch, names = settings.fetch, tuple(settings.environment.split())
    reader = HttpReader(fetch.max_bytes, fetch.seconds, fetch.private_hosts.split())
    return Toolbox(
        Workspace.at(root),
        CommandRunner(root, sandbox=settings.sandbox),
        ApprovedCommands(str(root.resolve()), settings.sandbox, names),
        project.background,
        project.brain,
        project.recall,
        notebook,
        project.store,
        project.brain.place,
        PageFetcher(reader, keep_page),
        open_searcher(settings),
    )


@dataclass(frozen=True, slots=True)
class UnusableSearcher:
    """A service that lacks its key or its address: the first search says so."""

    problem: str

    @property
    def host(self) -> str:
        raise FetchFailed(self.problem)

    async def search(self, query: str, limit: int) -> Sequence[FoundPage]:
        raise FetchFailed(self.problem)


def open_searcher(settings: ToolSettings) -> WebSearcher | None:
    """Return the service of the settings, or None where there is none."""
    service, url = settings.web_search.service, settings.web_search.url
    if service == "off":
        return None
    seconds = settings.fetch.seconds
    if service == "searxng":
        return open_searxng(url, seconds) if url else UnusableSearcher(NO_ADDRESS)
    key = find_search_key(service)
    if not key:
        why = f"A search with {service} needs a key: {explain_key(service)}."
        return UnusableSearcher(why)
    variable = SEARCH_KEYS[service]
    if service == "brave":
        return open_brave(key, url, seconds, variable)
    return open_tavily(key, url, seconds, variable)
