"""The agent of a project, with what its turns need of the project."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.adapters.stores import holders
from ragforge.agent.events import Noticed
from ragforge.agent.hooks import Hooks
from ragforge.agent.turn import Agent, TurnEnvironment, TurnLimits
from ragforge.config.settings import Settings
from ragforge.context.build import ContextBuilder
from ragforge.domain.answers import Answer
from ragforge.domain.chat import Image
from ragforge.domain.conversations import ToolCall
from ragforge.llm.ask import ChatClient
from ragforge.llm.calls import Tool
from ragforge.mcp_client.pool import ServerPool
from ragforge.memory.context_tags import fence, make_mark
from ragforge.memory.record import Recorder
from ragforge.tools.confine import Root
from ragforge.tools.edits.journal import Journal
from ragforge.tools.images import NamedImages, read_named_images
from ragforge.tools.prompt_files import PromptFolders, describe_skills

if TYPE_CHECKING:
    from ragforge.tools.mentions import Mentioned, MentionReader


@dataclass(frozen=True, slots=True)
class ProjectServices:
    """The services of turns in one project, as `TurnServices` describes them."""

    state_dir: Path
    cwd: Path
    root: Path
    prompts: PromptFolders
    servers: ServerPool
    hooks: Hooks
    tool_factory: Callable[[TurnEnvironment, ChatClient], Sequence[Tool]]
    mention_factory: Callable[[TurnEnvironment], MentionReader]

    def make_tools(self, turn: TurnEnvironment, chat: ChatClient) -> Sequence[Tool]:
        return self.tool_factory(turn, chat)

    def find_results(self, conversation_id: str, calls: Sequence[ToolCall]) -> Sequence[ToolCall]:
        from ragforge.tools.edits.journal import find_results

        journal = Journal.of(self.state_dir, conversation_id)
        return find_results(journal, Root.at(self.root), calls)

    def is_gone(self, process: str) -> bool:
        return holders.is_gone(process)

    def describe_skills(self) -> str:
        return describe_skills(self.prompts.find("skills"))

    async def begin_turn(self, turn: TurnEnvironment, question: str | None) -> str:
        return await self.hooks.begin_turn(turn, question)

    async def end_turn(self, turn: TurnEnvironment, answer: Answer) -> None:
        await self.hooks.end_turn(turn, answer)

    async def prepare(self, turn: TurnEnvironment, question: str, max_chars: int) -> str:
        await self.servers.wait()
        resources = await self.servers.read_mentioned(question)
        for line in self.servers.take_news():
            turn.on_event(Noticed(line))
        mark = make_mark(turn.conversation_id)
        fences = [fence("server-resource", text, mark) for text in resources]
        for one in await self._read_mentions(turn, question, max_chars):
            if one.problem:
                turn.on_event(Noticed(f"@{one.name} is not sent: {one.problem}"))
            text = f"(It could not be read: {one.problem})" if one.problem else one.text
            fences.append(fence("mentioned", f"@{one.name}\n{text}", mark))
        return "".join(f"{one}\n\n" for one in fences)

    async def _read_mentions(
        self, turn: TurnEnvironment, question: str, max_chars: int
    ) -> Sequence[Mentioned]:
        """Return the files, folders and pages that a question names; most name none."""
        if "@" not in question:
            return ()
        return await self.mention_factory(turn).read(question, max_chars)

    def read_images(self, question: str, given: Sequence[Image]) -> NamedImages:
        return read_named_images(question, self.cwd, given)


def open_agent(
    settings: Settings,
    services: ProjectServices,
    context: ContextBuilder,
    recorder: Recorder,
    chat: ChatClient | None,
) -> Agent:
    """Return the agent that answers with these services, within the limits of the settings."""
    turn = settings.agent.turn
    limits = TurnLimits(turn.max_steps, turn.max_seconds, turn.max_spend_usd, turn.max_result_chars)
    return Agent(context, recorder, chat, services, limits)
