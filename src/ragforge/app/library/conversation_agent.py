"""The agent, as a program holds it: conversations that are remembered.

async with await ConversationAgent.open(cwd="~/shop") as agent:
    conversation = await agent.create_conversation(title="Refactor auth", tags=["auth"])
    answer = await conversation.send_message("Where is the login?")
    await conversation.search_history("login")
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from ragforge.app.application import App
from ragforge.app.features.code import Code, IngestionReport, OnStep
from ragforge.app.features.memory import Memory
from ragforge.app.features.notes import Notes
from ragforge.app.features.sessions import LISTED, HasId, Sessions
from ragforge.app.library.conversation import Conversation
from ragforge.app.opening import open_app
from ragforge.app.wiring.projects import recognise_project
from ragforge.config.layers import load_settings
from ragforge.config.settings import Settings
from ragforge.domain import conversations as domain
from ragforge.domain.conversations import ConversationStatus
from ragforge.domain.text import Json
from ragforge.errors import InputError
from ragforge.memory.sessions import (
    Session,
    SessionLine,
    create_session,
    get_sessions_by_cwd,
    load_session,
    normalise,
)

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ragforge.agent.events import OnEvent
    from ragforge.agent.permissions import Approve
    from ragforge.domain.modes import Mode
    from ragforge.domain.turns import Answer
    from ragforge.llm.calls import Tool
    from ragforge.llm.executor import StructuredLLMExecutor
    from ragforge.llm.task import BatchResult, OnProgress
    from ragforge.memory.summaries.due import Level1Check

P = ParamSpec("P")
Topic = TypeVar("Topic")
Result = TypeVar("Result")


def _forward(
    topic: Callable[[App], Topic],
    method: Callable[Concatenate[Topic, P], Coroutine[Any, Any, Result]],
) -> Callable[Concatenate[ConversationAgent, P], Coroutine[Any, Any, Result]]:
    """Return a method of the agent that calls a method of one of the application's topics."""

    @wraps(method)
    async def call(agent: ConversationAgent, /, *args: P.args, **kwargs: P.kwargs) -> Result:
        return await method(topic(agent.app), *args, **kwargs)

    return call


class ConversationAgent:
    """RagForge in one directory. Close it, or use it in `async with`."""

    def __init__(self, app: App, stack: AsyncExitStack) -> None:
        self.app = app
        self._stack = stack

    @classmethod
    async def open(
        cls,
        config: Settings | Mapping[str, object] | None = None,
        cwd: str | Path = ".",
        *,
        tools: Sequence[Callable[..., Any]] = (),
        trust_project: bool = False,
    ) -> ConversationAgent:
        """Open RagForge in a directory, with settings or with dotted keys over the configured ones.

        `tools` are functions that the model may call too; one with the name of another tool
        takes its place. With `trust_project` the folder's own `ragforge.config.yaml` is applied,
        its instruction files are obeyed and its files are read, as if its user had trusted it
        with `ragforge trust`; nothing is remembered.
        Raises SettingsError, StoreUnavailable, InputError for a function that no model could call.
        """
        place = Path(cwd).expanduser()
        if not isinstance(config, Settings):
            config = load_settings(place, config, trust_project=trust_project).settings
        stack = AsyncExitStack()
        opening = open_app(config, place, tools=_make_tools(tools), trust_project=trust_project)
        app = await stack.enter_async_context(opening)
        return cls(app, stack)

    async def close(self) -> None:
        """Finish the jobs that are due, as far as there is time, and close the store."""
        await self._stack.aclose()

    async def __aenter__(self) -> ConversationAgent:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def create_conversation(
        self, title: str | None = None, tags: Sequence[str] = ()
    ) -> Conversation:
        """Start a conversation in this directory."""
        return Conversation(self.app, await self.app.sessions.create(title, tags))

    async def load_conversation(self, conversation_id: str) -> Conversation:
        """Open a conversation by its id, or by the start of it.

        Raises ConversationNotFound, AmbiguousId.
        """
        return Conversation(self.app, await self.app.sessions.load(conversation_id))

    async def list_conversations(
        self,
        status: ConversationStatus | None = None,
        tags: Sequence[str] = (),
        limit: int = LISTED,
        everywhere: bool = False,
    ) -> list[Conversation]:
        """Return conversations of this project, or of all, the last active first."""
        found = await self.app.sessions.find(status, tags, limit, everywhere=everywhere)
        return [Conversation(self.app, facts) for facts in found]

    async def create_session(
        self, cwd: str | Path | None = None, project_path: str | Path | None = None
    ) -> Conversation:
        """Start a conversation in a directory: this one, or another, of the given project.

        Without `project_path`, the project is that of the directory.
        """
        place, project = self._locate(cwd), self.app.project
        if cwd is not None or project_path is not None:
            root = place if project_path is None else self._locate(project_path)
            project = await recognise_project(self.app.settings, self.app.store, root)
        store, identity = self.app.store, self.app.identity
        return Conversation(self.app, await create_session(store, place, project, identity))

    async def get_sessions_by_cwd(
        self, cwd: str | Path | None = None, limit: int = LISTED
    ) -> list[SessionLine]:
        """Return the sessions of exactly this directory, or another, the last active first."""
        return await get_sessions_by_cwd(self.app.store, self._locate(cwd), limit)

    def _locate(self, folder: str | Path | None) -> Path:
        """Return a directory, given from this one."""
        return normalise(self.app.cwd / Path(folder or "").expanduser())

    async def load_session(self, session_id: str) -> Session:
        """Return a session with all its messages, by its id or the start of it.

        Raises ConversationNotFound, AmbiguousId.
        """
        found = await self.app.sessions.load(session_id)
        return await load_session(self.app.store, found.uuid)

    async def should_create_l1_summary(self, session: str | HasId) -> Level1Check:
        """Check whether a short-term summary of a session is due, and of which turns.

        It is made in the background in any case. Raises ConversationNotFound, AmbiguousId.
        """
        session_id = session if isinstance(session, str) else session.id
        found = await self.app.sessions.load(session_id)
        return await self.app.condenser.check_level_1(found.uuid)

    async def import_conversation(self, data: bytes | Json, as_new: bool = False) -> Conversation:
        """Store an exported conversation: see docs/export-format.md.

        Raises ImportRefused, and DuplicateId if it is here already; `as_new` makes a copy.
        """
        imported = await self.app.sessions.import_document(data, as_new=as_new)
        return Conversation(self.app, imported.conversation)

    find_similar_conversations = _forward(lambda app: app.sessions, Sessions.find_similar)
    find_conversations_about = _forward(lambda app: app.sessions, Sessions.find_about)

    search_conversation_history = _forward(lambda app: app.memory, Memory.search)
    get_summaries_by_date_range = _forward(lambda app: app.memory, Memory.find_summaries)
    get_recent_summaries = _forward(lambda app: app.memory, Memory.find_recent_summaries)
    get_summaries_mentioning_file = _forward(
        lambda app: app.memory, Memory.find_summaries_mentioning_file
    )
    get_unread_findings = _forward(lambda app: app.memory, Memory.find_unread_findings)
    mark_findings_read = _forward(lambda app: app.memory, Memory.mark_findings_read)
    trim_summaries_by_date = _forward(lambda app: app.memory, Memory.trim_summaries)

    remember = _forward(lambda app: app.notes, Notes.remember)
    notes = _forward(lambda app: app.notes, Notes.find)
    forget_note = _forward(lambda app: app.notes, Notes.forget)

    async def ingest(self, on_step: OnStep = lambda _: None) -> IngestionReport:
        """Bring what is known of the project's code up to date, and return what was done.

        Raises OSError if the project cannot be listed, ModelError if embedding fails.
        """
        report, _ = await self.app.code.ingest(on_step)
        return report

    search_code = _forward(lambda app: app.code, Code.search)
    search_code_semantic = _forward(lambda app: app.code, Code.search_semantic)

    @property
    def executor(self) -> StructuredLLMExecutor:
        """Does the same task for many items, with the chat model of the settings.

        Raises ModelMissing if no chat model is configured.
        """
        return self.app.executor

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
        from ragforge.llm.executor import batch_analyze

        texts = [await self._format_item(item) for item in items]
        return await batch_analyze(
            self.executor, texts, task, output_schema, on_progress=on_progress
        )

    async def _format_item(self, item: Json | Conversation | domain.Conversation) -> Json:
        from ragforge.llm.executor import ITEM_CHARS
        from ragforge.memory.summaries.material import format_conversation

        if isinstance(item, Conversation):
            item = await item.refresh()
        if isinstance(item, domain.Conversation):
            return await format_conversation(self.app.store, item, ITEM_CHARS)
        return item


def _make_tools(functions: Sequence[Callable[..., Any]]) -> list[Tool]:
    if not functions:
        return []
    from ragforge.tools.function_tool import own_tool

    tools = [own_tool(function) for function in functions]
    names = [tool.spec.name for tool in tools]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"Two tools are called {name}.")
    return tools


async def ask(
    question: str,
    cwd: str | Path = ".",
    config: Settings | Mapping[str, object] | None = None,
    *,
    on_event: OnEvent | None = None,
    approve: Approve | None = None,
    mode: Mode = "ask",
    tools: Sequence[Callable[..., Any]] = (),
    trust_project: bool = False,
) -> Answer:
    """Open RagForge in a directory, answer in its current session, and close.

    To ask more than once, open a `ConversationAgent` and keep it.
    In the mode `plan` nothing is changed and the answer is a plan; in `accept-edits` files of
    the project are changed without `approve`; in `auto` commands run without it too, in a sandbox.
    Raises InputError if the question is empty, SettingsError, StoreUnavailable.
    """
    opening = ConversationAgent.open(config, cwd, tools=tools, trust_project=trust_project)
    async with await opening as agent:
        return await agent.app.ask(question, on_event=on_event, approve=approve, mode=mode)
