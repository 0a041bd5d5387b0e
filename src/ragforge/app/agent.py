"""The agent: what takes turns in a project, with its tools and permissions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragforge.adapters.stores.holders import is_gone
from ragforge.agent.delegate import Delegation, make_delegate_tool
from ragforge.agent.events import CommandPrinted, Noticed, OnEvent
from ragforge.agent.permissions import Permissions
from ragforge.agent.rule_file import PermissionRules
from ragforge.agent.turn import Agent, TurnEnvironment, TurnLimits
from ragforge.app.trust import FolderTrust
from ragforge.config.settings import Settings
from ragforge.context.build import ContextBuilder
from ragforge.context.instructions import InnerInstructions, add_inner_instructions
from ragforge.domain.conversations import ToolCall
from ragforge.llm.ask import Asker
from ragforge.llm.calls import Tool
from ragforge.memory.fences import fence, make_mark
from ragforge.memory.record import Recorder
from ragforge.servers.mentions import read_mentioned
from ragforge.servers.pool import ServerPool
from ragforge.tools.batch_analyze import make_analyze_tool
from ragforge.tools.edits.journal import Journal
from ragforge.tools.images import read_named_images
from ragforge.tools.prompt_files import PromptFolders
from ragforge.tools.read_skill import describe_skills
from ragforge.tools.reconcile_edits import find_results
from ragforge.tools.server_tools import make_server_tools
from ragforge.tools.toolbox import Toolbox

RECALLING = frozenset({"search_memory", "read_memory"})
"""Tools that a model does not have where memory is only written."""
WRITING = frozenset({"write_file", "edit_file", "remember"})
"""Tools that a model does not have in plan mode. What others want to change is declined there."""


def open_agent(
    settings: Settings,
    cwd: Path,
    toolbox: Toolbox,
    rules: PermissionRules,
    context: ContextBuilder,
    recorder: Recorder,
    chat: Asker | None,
    own_tools: Sequence[Tool],
    trust: FolderTrust,
    prompts: PromptFolders,
    servers: ServerPool,
) -> Agent:
    """Return the agent of a project, with all its tools and those of the program.

    Where files are not to be read, it has memory and no tool that touches files.
    """
    turn = settings.agent.turn
    limits = TurnLimits(turn.max_steps, turn.max_seconds, turn.max_spend_usd, turn.max_result_chars)
    state, project = Path(settings.agent.state_dir), Path(toolbox.project.path)
    left_out = {tool.spec.name for tool in own_tools}  # the program's own take their places
    if not settings.agent.memory.enabled:
        left_out |= RECALLING

    def make_tools(turn: TurnEnvironment) -> Sequence[Tool]:
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
        changing = toolbox.make_changing_tools(
            journal,
            permissions.require_permission,
            turn.files,
            lambda text: turn.on_event(CommandPrinted(text)),
        )
        others = (
            *(changing if reads else ()),
            toolbox.make_web_tool(permissions.require_permission),
            toolbox.make_note_tool(turn.conversation_id),
            make_analyze_tool(turn.asker),
            make_delegate_tool(Delegation(turn.asker, looking, turn.on_event)),
        )
        # Nobody knows what these change: a plan is made without them.
        called = make_server_tools(servers, permissions.require_permission)
        own = () if plans else (*called, *own_tools)
        return (*looking, *(t for t in others if t.spec.name not in absent), *own)

    def find_broken_edits(conversation_id: str, calls: Sequence[ToolCall]) -> Sequence[ToolCall]:
        journal = Journal.of(state, conversation_id)
        return find_results(journal, toolbox.workspace.root, calls)

    async def prepare(conversation_id: str, question: str, on_event: OnEvent) -> str:
        await servers.wait()
        found = await read_mentioned(servers, question)
        for line in servers.take_news():
            on_event(Noticed(line))
        mark = make_mark(conversation_id)
        return "".join(f"{fence('server-resource', text, mark)}\n\n" for text in found)

    return Agent(
        context,
        recorder,
        chat,
        make_tools,
        limits,
        find_broken_edits,
        is_gone,
        lambda: describe_skills(prompts.find("skills")),
        prepare,
        lambda question, given: read_named_images(question, cwd, given),
    )
