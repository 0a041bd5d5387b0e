"""The agent, as a program holds it: conversations that are remembered.

async with await ConversationAgent.open(cwd="~/shop") as agent:
    conversation = await agent.create_conversation(title="Refactor auth", tags=["auth"])
    answer = await conversation.send_message("Where is the login?")
    await conversation.search_history("login")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ragforge.app.application import App, open_app
from ragforge.app.conversation import Conversation
from ragforge.app.knowledge import Knowledge
from ragforge.config.layers import load_settings
from ragforge.config.settings import Settings
from ragforge.domain import conversations as domain
from ragforge.domain.conversations import (
    ConversationChanges,
    ConversationFilter,
    ConversationStatus,
)
from ragforge.domain.text import Json
from ragforge.errors import InputError
from ragforge.llm.analyze import ITEM_CHARS
from ragforge.memory import sessions
from ragforge.memory.code.later import enqueue_links
from ragforge.memory.digest import format_conversation
from ragforge.memory.embed import enqueue_missing
from ragforge.memory.exchange.imports import import_conversation
from ragforge.memory.secrets.redact import redact
from ragforge.memory.similar import SimilarConversation, SimilaritySearch

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ragforge.domain.summaries import Summary
    from ragforge.llm.calls import Tool
    from ragforge.llm.results import BatchResult, OnProgress
    from ragforge.memory.code.about import ConversationAbout

LISTED = 50


class ConversationAgent(Knowledge):
    """RagForge in one directory. Close it, or use it in `async with`."""

    def __init__(self, app: App, stack: AsyncExitStack) -> None:
        super().__init__(app)
        self._stack = stack

    @classmethod
    async def open(
        cls,
        config: Settings | Mapping[str, object] | None = None,
        cwd: str | Path = ".",
        *,
        tools: Sequence[Callable[..., Any]] = (),
    ) -> ConversationAgent:
        """Open RagForge in a directory, with settings or with dotted keys over the configured ones.

        `tools` are functions that the model may call too; one with the name of another tool
        takes its place. Raises SettingsError, StoreUnavailable, InputError for a function that
        no model could call.
        """
        place = Path(cwd).expanduser()
        if not isinstance(config, Settings):
            config = load_settings(place, config).settings
        stack = AsyncExitStack()
        app = await stack.enter_async_context(open_app(config, place, tools=_own(tools)))
        return cls(app, stack)

    async def close(self) -> None:
        """Finish what is due, as far as there is time, and close the store."""
        await self._stack.aclose()

    async def __aenter__(self) -> ConversationAgent:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def create_conversation(
        self, title: str | None = None, tags: Sequence[str] = ()
    ) -> Conversation:
        """Start a conversation in this directory."""
        conversations = self.app.store.conversations
        facts = await sessions.create_session(conversations, self.app.cwd, self.app.project_path)
        if title is not None or tags:
            line = None if title is None else redact(title)
            changes = ConversationChanges(title=line, tags=tuple(tags) or None)
            facts = await conversations.update(facts.uuid, changes)
        return Conversation(self.app, facts)

    async def load_conversation(self, conversation_id: str) -> Conversation:
        """Open a conversation by its id, or by the start of it.

        Raises ConversationNotFound, AmbiguousId.
        """
        facts = await sessions.resolve_session(self.app.store.conversations, conversation_id)
        return Conversation(self.app, facts)

    async def list_conversations(
        self,
        status: ConversationStatus | None = None,
        tags: Sequence[str] = (),
        limit: int = LISTED,
        everywhere: bool = False,
    ) -> list[Conversation]:
        """Return conversations of this directory, or of all, the last active first."""
        cwd = None if everywhere else str(self.app.cwd)
        where = ConversationFilter(cwd=cwd, status=status, tags=tuple(tags))
        found = await self.app.store.conversations.find(where, limit)
        return [Conversation(self.app, facts) for facts in found]

    async def find_similar_conversations(
        self, query: str, limit: int = 5, everywhere: bool = False
    ) -> list[SimilarConversation]:
        """Return the conversations of this project, or of all, that are most about the query."""
        project = None if everywhere else str(self.app.project_path)
        store = self.app.store
        likeness = SimilaritySearch(store.conversations, store.summaries, self.app.recall.embedder)
        return await likeness.find_similar_conversations(query, limit, project)

    async def find_conversations_about(
        self, name: str, everywhere: bool = False
    ) -> list[ConversationAbout]:
        """Return the conversations of this project, or of all, that edited, read or named a file,
        a directory or something in the code, and what became of it since.

        The last active come first. The name may be gone by now. Raises InputError if it may
        mean several files.
        """
        return await self.app.find_conversations_about(name, everywhere=everywhere)

    async def get_summaries_mentioning_file(self, path: str) -> list[Summary]:
        """Return the summaries of this project that mention a file, newest first.

        The path is that of a file in the project, seen from this directory or the project's; it
        may be gone. Raises InputError if it may mean several files.
        """
        return await self.app.get_summaries_mentioning_file(path)

    async def get_unread_findings(self, everywhere: bool = False) -> list[Summary]:
        """Return the summaries of this project, or of all, with findings that nobody was shown
        yet, newest first. `mark_findings_read` takes them off the list.
        """
        project = None if everywhere else str(self.app.project_path)
        return await self.app.history.get_unread_findings(project)

    async def mark_findings_read(self, summaries: Sequence[Summary]) -> None:
        """Note that somebody was shown what these summaries found out."""
        await self.app.history.mark_findings_read(summaries)

    async def import_conversation(self, data: bytes | Json, as_new: bool = False) -> Conversation:
        """Store an exported conversation: see docs/export-format.md.

        Raises ImportRefused, and DuplicateId if it is here already; `as_new` makes a copy.
        """
        imported = await import_conversation(self.app.store.archive, data, as_new=as_new)
        if self.app.recall.embedder is not None:
            await enqueue_missing(self.app.store, self.app.recall.embedder)
        await enqueue_links(self.app.store, imported.conversation.project_path)
        return Conversation(self.app, imported.conversation)

    async def batch_analyze(
        self,
        items: Sequence[Json | Conversation | domain.Conversation],
        task: str,
        output_schema: type[BaseModel] | Mapping[str, Any],
        on_progress: OnProgress | None = None,
    ) -> BatchResult[BaseModel]:
        """Have the chat model do a task for every item; the outputs have the given shape.

        An item is any JSON, or a conversation: of that the model gets title, tags, summary and
        the newest turns. Raises ModelMissing if no chat model is configured, InputError for a
        bad schema, ConversationNotFound.
        """
        texts = [await self._as_item(item) for item in items]
        return await self.app.batch_analyze(texts, task, output_schema, on_progress)

    async def _as_item(self, item: Json | Conversation | domain.Conversation) -> Json:
        if isinstance(item, Conversation):
            item = await item.refresh()
        if isinstance(item, domain.Conversation):
            return await format_conversation(self.app.store, item, ITEM_CHARS)
        return item


def _own(functions: Sequence[Callable[..., Any]]) -> list[Tool]:
    if not functions:
        return []
    from ragforge.tools.function_tool import own_tool

    tools = [own_tool(function) for function in functions]
    names = [tool.spec.name for tool in tools]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"Two tools are called {name}.")
    return tools
