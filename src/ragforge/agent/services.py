"""Services: what turns need of the project and the program around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.agent.environment import TurnEnvironment
from ragforge.agent.events import Noticed
from ragforge.agent.hooks import Hooks
from ragforge.domain.conversations import ToolCall
from ragforge.llm.ask import ChatClient
from ragforge.llm.calls import Tool
from ragforge.mcp_client.pool import ServerPool
from ragforge.memory.context_tags import fence, make_mark
from ragforge.records import dataclass
from ragforge.tools.confine import Root
from ragforge.tools.edits.change import Journal, find_results
from ragforge.tools.prompt_files import PromptFolders

if TYPE_CHECKING:
    from ragforge.tools.mentions import MentionReader


@dataclass(frozen=True, slots=True)
class TurnServices:
    """The tools, hooks, prompts and servers of one project."""

    state_dir: Path
    cwd: Path
    root: Path
    prompts: PromptFolders
    servers: ServerPool
    hooks: Hooks
    make_tools: Callable[[TurnEnvironment, ChatClient], Sequence[Tool]]
    open_mentions: Callable[[TurnEnvironment], MentionReader]
    is_gone: Callable[[str], bool]  # whether a process has certainly ended

    def find_results(self, conversation_id: str, calls: Sequence[ToolCall]) -> Sequence[ToolCall]:
        """Return calls that broke off, with their results, as far as they are known."""
        journal = Journal.of(self.state_dir, conversation_id)
        return find_results(journal, Root.at(self.root), calls)

    async def prepare(self, turn: TurnEnvironment, question: str, max_chars: int) -> str:
        """Make tools ready for a question, and return the text of what it mentions.

        That are resources of servers, and files, folders and web pages: `max_chars` for all of
        these. The text precedes the question in this request, and is not stored.
        """
        await self.servers.wait()
        resources = await self.servers.read_mentioned(question)
        for line in self.servers.take_news():
            turn.on_event(Noticed(line))
        mark = make_mark(turn.conversation_id)
        fences = [fence("server-resource", text, mark) for text in resources]
        # Most questions name no file, folder or page.
        named = await self.open_mentions(turn).read(question, max_chars) if "@" in question else ()
        for one in named:
            if one.problem:
                turn.on_event(Noticed(f"@{one.name} is not sent: {one.problem}"))
            text = f"(It could not be read: {one.problem})" if one.problem else one.text
            fences.append(fence("mentioned", f"@{one.name}\n{text}", mark))
        return "".join(f"{one}\n\n" for one in fences)
