"""Session: one conversation in an editor, and the turn that runs in it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypeAlias, TypedDict

from acp import (
    RequestError,
    schema,
    start_tool_call,
    update_agent_message_text,
    update_agent_thought_text,
    update_user_message_text,
)
from acp.helpers import SessionUpdate, update_available_commands
from acp.interfaces import Client

from ragforge.acp.offers import RETRY, UNDO, list_commands, list_modes
from ragforge.acp.permission import FolderQuestions, Permission
from ragforge.acp.question import Block, Question, expand_command, read_question
from ragforge.acp.texts import FAILED, clean
from ragforge.acp.updates import (
    PLAN,
    TurnUpdates,
    UpdateQueue,
    format_result,
    format_title,
    get_kind,
    list_places,
    make_plan,
)
from ragforge.app import App, open_app
from ragforge.config import Settings
from ragforge.domain.conversations import Conversation, Message, ToolCall
from ragforge.domain.mcp_client import ServerSpec
from ragforge.domain.modes import Mode
from ragforge.domain.turns import Answer, Turn
from ragforge.errors import InputError, RagForgeError
from ragforge.events import OnEvent
from ragforge.permissions import Approve
from ragforge.records import dataclass

Reopen: TypeAlias = Callable[[App], Awaitable[App]]
LIMITS = ("time", "spend")
"""Limits that the user set: they end a turn normally."""
BUSY = "This session is still answering. Cancel that first, or wait for it."

logger = logging.getLogger(__name__)

ANSWER_SECONDS = 10.0
"""How long an editor may take for a file; then the disk is used."""


class _Options(TypedDict):
    on_event: OnEvent
    approve: Approve
    mode: Mode
    files: ClientFiles


class EditorSession:
    """A conversation that an editor has open. It is stored with its first question."""

    def __init__(
        self, app: App, conversation: Conversation, is_stored: bool, reopen: Reopen | None = None
    ) -> None:
        """`reopen` opens a folder again once the user trusts it; without it nothing is asked."""
        self.app = app
        self._reopen = reopen
        self._servers: Sequence[ServerSpec] = ()  # of the editor
        self.conversation = conversation
        self.is_stored = is_stored
        self.mode: Mode = "ask"  # of the next turn
        self._title = conversation.title  # as the editor knows it
        self._turn: asyncio.Task[Answer | None] | None = None

    @property
    def id(self) -> str:
        return self.conversation.uuid

    async def list_modes(self) -> schema.SessionModeState:
        """Return the modes that can be used, and which is on."""
        problem = await asyncio.to_thread(self.app.explain_no_auto)
        return list_modes(self.mode, not problem)

    async def show_history(self, client: Client) -> None:
        """Send all that was said and done so far."""
        if not self.is_stored:
            return
        facts = await self.app.sessions.load(self.id)
        turns = await self.app.sessions.latest_turns(facts, facts.turn_count)
        for update in replay(turns, self.app.project_path):
            await client.session_update(self.id, update)

    def use_servers(self, specs: Sequence[ServerSpec]) -> None:
        """Connect to the servers that the editor passes, in the background."""
        if specs:
            self._servers = specs
            self.app.servers.add(specs)

    async def list_commands(self) -> schema.AvailableCommandsUpdate:
        """Return the commands that this session has now."""
        commands = await asyncio.to_thread(self.app.prompts.find, "commands")
        return update_available_commands(list_commands(commands))

    async def answer(
        self, blocks: Sequence[Block], client: Client, offered: schema.FileSystemCapabilities
    ) -> schema.PromptResponse:
        """Take a turn and send its events as they come.

        Files are read and written through the editor, as far as it offers that.

        A cancelled turn is kept as far as it got. Raises InputError if a turn runs already,
        RequestError with the reason if the model failed.
        """
        if self._turn is not None:
            raise InputError(BUSY)
        root = self.app.project_path
        question = read_question(blocks, root)
        async with UpdateQueue(client, self.id) as queue:
            updates = TurnUpdates(root, queue.put)
            permission = Permission(client, self.id, root, updates, queue)
            files = ClientFiles(client, self.id, offered)

            async def take_turn() -> Answer | None:
                await self._settle_trust(client, queue, updates)
                return await self._ask(question, updates, permission, files)

            self._turn = asyncio.create_task(take_turn())
            try:
                answer = await self._turn
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is not None and task.cancelling():  # the editor has left
                    raise
                return schema.PromptResponse(stop_reason="cancelled")
            finally:
                self._turn = None
                updates.end()
            if answer is None:
                return schema.PromptResponse(stop_reason="end_turn")
            if answer.model is None:  # without a model: the text was not streamed
                updates.say(answer.content)
            elif answer.problem is not None and answer.stopped in LIMITS:
                updates.say(f"\n\n{answer.problem}")
            await self._send_title(queue)
        return _make_response(answer)

    async def cancel(self) -> None:
        """End the turn that runs, if one does; what it said and did is kept."""
        if self._turn is not None:
            self._turn.cancel()

    async def _settle_trust(self, client: Client, queue: UpdateQueue, updates: TurnUpdates) -> None:
        """Ask what is open about the folder, once in a session."""
        if (reopen := self._reopen) is None:
            return
        self._reopen = None
        asked = FolderQuestions(client, self.id, lambda text: updates.say(f"{text}\n\n"))
        if not await asked.settle(self.app):
            return
        if not self.is_stored:  # else it stays with the store in which it was found
            self.app = await reopen(self.app)
            self.use_servers(self._servers)
        queue.put(await self.list_commands())

    async def _send_title(self, queue: UpdateQueue) -> None:
        """Send the title of the session, if it got another one since."""
        title = (await self.app.sessions.load(self.id)).title
        if title is not None and title != self._title:
            self._title = title
            queue.put(
                schema.SessionInfoUpdate(session_update="session_info_update", title=clean(title))
            )

    async def _ask(
        self, question: Question, updates: TurnUpdates, permission: Permission, files: ClientFiles
    ) -> Answer | None:
        """Do what a question says; None if it is a command that needs no answer."""
        app = self.app
        if (words := question.text.strip()) == UNDO:
            updates.say(f"{(await app.undo(self.id)).file} is as it was before.")
            return None
        options = _Options(
            on_event=updates.on_event, approve=permission.approve, mode=self.mode, files=files
        )
        if words == RETRY:
            return await app.retry(self.id, **options)
        commands = await asyncio.to_thread(app.prompts.find, "commands")
        text = expand_command(question.text, commands)
        if not text.strip():
            raise InputError("The question is empty. Type a question.")
        if not self.is_stored:
            self.conversation = await app.sessions.store_new(self.conversation)
            self.is_stored = True
        if await app.code.is_ingested():
            await read_changes(app)
        else:
            await app.code.automatic_reading.begin()
        return await app.ask(text, self.id, **options, images=question.images)


def _make_response(answer: Answer) -> schema.PromptResponse:
    """Return how a turn ended. Raises RequestError if the model did not answer to the end."""
    if answer.problem is not None and answer.stopped not in LIMITS:
        raise RequestError(FAILED, answer.problem)
    reason: schema.StopReason = "max_turn_requests" if answer.stopped else "end_turn"
    used = answer.usage
    usage = schema.Usage(
        total_tokens=used.input_tokens + used.output_tokens,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cached_read_tokens=used.cached_tokens,
    )
    return schema.PromptResponse(stop_reason=reason, usage=usage)


@dataclass(frozen=True, slots=True)
class ClientFiles:
    """The files of one session, as far as the editor offers them."""

    client: Client
    session_id: str
    offered: schema.FileSystemCapabilities

    async def read(self, path: str) -> str | None:
        """Return a text as the editor has it; None if it does not say."""
        if not self.offered.read_text_file:
            return None
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                found = await self.client.read_text_file(self.session_id, path)
        except (RequestError, ConnectionError, TimeoutError, ValueError) as error:
            logger.info("The editor did not return %s: %s", path, error)
            return None
        return found.content

    async def write(self, path: str, text: str) -> None:
        """Have the editor write a text, if it offers that."""
        if not self.offered.write_text_file:
            return
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self.client.write_text_file(self.session_id, path, clean(text))
        except (RequestError, ConnectionError, TimeoutError, ValueError) as error:
            logger.warning("The editor did not write %s: %s", path, error)


def replay(turns: Sequence[Turn], root: Path) -> Iterator[SessionUpdate]:
    """Yield all of some turns, in their order."""
    for turn in turns:
        yield update_user_message_text(clean(turn.user.content))
        for message in turn.replies:
            yield from _replay_message(message, root)


def _replay_message(message: Message, root: Path) -> Iterator[SessionUpdate]:
    if message.reasoning:
        yield update_agent_thought_text(clean(message.reasoning))
    if message.content.strip():
        yield update_agent_message_text(clean(f"{message.content}\n\n"))
    for call in message.tool_calls:
        yield _replay_call(call, root)


def _replay_call(call: ToolCall, root: Path) -> SessionUpdate:
    result = call.result
    if call.tool_name == PLAN and result is not None:
        plan = make_plan(result.result)
        if plan is not None:
            return plan
    content = [] if result is None else format_result(root, result.result, result.error)
    return start_tool_call(
        call.uuid,
        format_title(call.tool_name, call.arguments),
        kind=get_kind(call.tool_name),
        status="completed" if call.success and result is not None else "failed",
        content=content,
        locations=list_places(root, call.arguments),
    )


class Apps:
    """Opens the application of a folder once, and closes all of them at the end."""

    def __init__(self, load: Callable[[Path], Settings]) -> None:
        self._load = load
        self._opened: dict[Path, App] = {}
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()

    async def open(self, cwd: str) -> App:
        """Return the application of a folder. Raises InputError if there is no such folder."""
        folder = find_folder(cwd)
        async with self._opening:
            if folder not in self._opened:
                opening = open_app(self._load(folder), folder, detach=True)
                app = await self._stack.enter_async_context(opening)
                self._opened[folder] = app
                if await app.code.is_ingested():
                    await read_changes(app)
        return self._opened[folder]

    async def reopen(self, app: App) -> App:
        """Return the application of a folder with the settings that are in force now.

        Sessions that have the old one keep it; it is closed at the end.
        """
        self._opened = {folder: one for folder, one in self._opened.items() if one is not app}
        return await self.open(str(app.cwd))

    def has_model(self) -> bool:
        """Tell whether a model is configured for the working directory."""
        try:
            return self._load(Path.cwd()).llm.model != "none"
        except (RagForgeError, OSError):  # opening a session reports the problem
            return False

    async def close(self) -> None:
        await self._stack.aclose()


def find_folder(cwd: str) -> Path:
    """Return the folder that an editor names. Raises InputError unless there is one."""
    path = Path(cwd)
    try:
        if path.is_absolute() and path.is_dir():
            return path.resolve()
    except (OSError, ValueError):
        pass
    raise InputError(f"{cwd!r} is not a folder on this machine. Use an absolute path.")


async def read_changes(app: App) -> None:
    """Index changed code in the background; questions do not wait for it."""
    try:
        await app.code.automatic_reading.queue()
    except RagForgeError as error:
        logger.warning("The project is not indexed: %s", error)
