"""The agent: what takes turns in a project."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragforge.adapters.stores.holders import is_gone
from ragforge.agent.events import Noticed, OnEvent
from ragforge.agent.turn import Agent, ToolFactory, TurnLimits
from ragforge.config.settings import Settings
from ragforge.context.build import ContextBuilder
from ragforge.domain.conversations import ToolCall
from ragforge.llm.ask import ChatClient
from ragforge.mcp_client.mentions import read_mentioned
from ragforge.mcp_client.pool import ServerPool
from ragforge.memory.context_tags import fence, make_mark
from ragforge.memory.record import Recorder
from ragforge.tools.confine import Root
from ragforge.tools.edits.journal import Journal
from ragforge.tools.images import read_named_images
from ragforge.tools.prompt_files import PromptFolders, describe_skills


def open_agent(
    settings: Settings,
    cwd: Path,
    root: Path,
    make_tools: ToolFactory,
    context: ContextBuilder,
    recorder: Recorder,
    chat: ChatClient | None,
    prompts: PromptFolders,
    servers: ServerPool,
) -> Agent:
    """Return the agent of the project that lies at a root."""
    turn = settings.agent.turn
    limits = TurnLimits(turn.max_steps, turn.max_seconds, turn.max_spend_usd, turn.max_result_chars)
    state = Path(settings.agent.state_dir)

    def find_broken_edits(conversation_id: str, calls: Sequence[ToolCall]) -> Sequence[ToolCall]:
        from ragforge.tools.reconcile_edits import find_results

        return find_results(Journal.of(state, conversation_id), Root.at(root), calls)

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
