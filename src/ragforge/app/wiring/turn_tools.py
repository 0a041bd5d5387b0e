"""The tools of a turn: the project's, those of servers and the program's own.

Only a chat model uses them, so a turn without one does not load them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ragforge.adapters.web.reader import HttpReader
from ragforge.agent.agent_files import AgentFile, read_agent_files
from ragforge.agent.delegate import Delegation, SubAgentKind, make_delegate_tool
from ragforge.agent.events import CommandPrinted
from ragforge.agent.hooks import Hooks
from ragforge.agent.permissions import Permissions
from ragforge.agent.rules import PermissionRules
from ragforge.agent.sub_agent_budget import SubAgentBudget, SubAgentLimits
from ragforge.agent.turn import TurnEnvironment
from ragforge.app.wiring.search import open_searcher
from ragforge.app.wiring.trust import FolderTrust
from ragforge.brain.project import Brain
from ragforge.config.settings import Settings, ToolSettings
from ragforge.context.instructions import InnerInstructions, add_inner_instructions
from ragforge.llm.ask import ChatClient
from ragforge.llm.calls import Tool
from ragforge.mcp_client.pool import ServerPool
from ragforge.memory.notes import Notebook
from ragforge.memory.search.turns import MemorySearch
from ragforge.ports.store import Store
from ragforge.tools.batch_analyze import make_analyze_tool
from ragforge.tools.command.approved import ApprovedCommands
from ragforge.tools.command.background import BackgroundCommands
from ragforge.tools.command.run import CommandRunner
from ragforge.tools.edits.journal import Journal
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


def open_turn_tools(
    settings: Settings,
    cwd: Path,
    toolbox: Toolbox,
    rules: PermissionRules,
    own_tools: Sequence[Tool],
    trust: FolderTrust,
    prompts: PromptFolders,
    servers: ServerPool,
    hooks: Hooks,
    open_model: Callable[[str], ChatClient],
) -> Callable[[TurnEnvironment, ChatClient], Sequence[Tool]]:
    """Return what makes the tools of a turn.

    Where files are not to be read, there is memory and no tool that touches files.
    """
    state, project = Path(settings.agent.state_dir), Path(toolbox.project.path)
    left_out = {tool.spec.name for tool in own_tools}  # the program's own take their places
    if not settings.agent.memory.enabled:
        left_out |= RECALLING

    def make_tools(turn: TurnEnvironment, chat: ChatClient) -> Sequence[Tool]:
        permissions = Permissions(rules, turn.approve, turn.mode)
        plans = turn.mode == "plan"
        absent = left_out | WRITING if plans else left_out
        reads = trust.reads
        found = toolbox.make_reading_tools(turn.files) if reads else toolbox.make_memory_tools()
        skills = toolbox.make_skill_tools(prompts.find("skills"))
        looking = [tool for tool in (*found, *skills) if tool.spec.name not in left_out]
        if trust.obeys:
            inner = InnerInstructions(project, cwd)
            looking = [add_inner_instructions(tool, inner) for tool in looking]
        journal = Journal.of(state, turn.conversation_id)
        permit = permissions.require_permission
        # What servers change is not known: a plan is made without them.
        called = () if plans else make_server_tools(servers, permit)
        asking = ASKING | {tool.spec.name for tool in called}

        def watch(tools: Iterable[Tool], permit: Permit = permit) -> list[Tool]:
            return [
                hooks.watch(tool, turn, permit, asks=tool.spec.name in asking) for tool in tools
            ]

        looking = watch(looking)

        def make_working_tools(permit: Permit) -> list[Tool]:
            """Return the tools that ask for permission, in the mode of the session or another."""
            changing = toolbox.make_changing_tools(
                journal,
                permit,
                turn.files,
                lambda text: turn.on_event(CommandPrinted(text)),
            )
            return [*(changing if reads else ()), *toolbox.make_web_tools(permit)]

        def make_kind(file: AgentFile) -> SubAgentKind:
            mode = file.limit_mode(turn.mode)
            works = mode != "plan"
            inner = replace(permissions, mode=mode).require_permission
            tools = [*looking, *(watch(make_working_tools(inner), inner) if works else ())]
            chosen = file.select(tools)
            changes = any(tool not in looking for tool in chosen)
            open_chat = partial(_open_chat, open_model, file.model, chat)
            text = (file.name, file.description, file.prompt)
            return SubAgentKind(*text, chosen, changes, open_chat, file.problem)

        limits = settings.agent.sub_agents
        delegation = Delegation(
            chat,
            looking,
            turn.on_event,
            [make_kind(file) for file in read_agent_files(prompts.find("agents"))],
            SubAgentBudget(SubAgentLimits(limits.max_calls, limits.max_tokens, limits.max_seconds)),
        )
        others = (
            *make_working_tools(permit),
            toolbox.make_note_tool(turn.conversation_id),
            make_analyze_tool(chat),
            make_delegate_tool(delegation),
        )
        offered = [tool for tool in others if tool.spec.name not in absent]
        own = () if plans else (*called, *own_tools)
        return (*looking, *watch((*offered, *own)))

    return make_tools


def open_mentions(
    turn: TurnEnvironment, toolbox: Toolbox, rules: PermissionRules, trust: FolderTrust
) -> MentionReader:
    """Return what reads the files, folders and pages that the question of a turn names."""
    return MentionReader(
        toolbox.workspace,
        toolbox.brain,
        toolbox.pages,
        Permissions(rules, turn.approve, turn.mode).require_permission,
        "" if trust.reads else trust.describe_unread(),
        turn.files,
    )


def _open_chat(
    open_model: Callable[[str], ChatClient], name: str | None, chat: ChatClient
) -> ChatClient:
    """Return the model of a sub-agent, which counts for the turn. Raises InputError."""
    return chat if name is None else replace(open_model(name), meter=chat.meter)


def open_toolbox(
    settings: ToolSettings,
    root: Path,
    background: BackgroundCommands,
    brain: Brain,
    recall: MemorySearch,
    notebook: Notebook,
    store: Store,
    keep_page: KeepPage,
) -> Toolbox:
    """Return the tools of the project that lies at a root."""
    fetch, names = settings.fetch, tuple(settings.environment.split())
    reader = HttpReader(fetch.max_bytes, fetch.seconds, fetch.private_hosts.split())
    return Toolbox(
        Workspace.at(root),
        CommandRunner(root, sandbox=settings.sandbox),
        ApprovedCommands(str(root.resolve()), settings.sandbox, names),
        background,
        brain,
        recall,
        notebook,
        store,
        brain.place,
        PageFetcher(reader, keep_page),
        open_searcher(settings),
    )
