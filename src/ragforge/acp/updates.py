"""Updates: the events of a turn as an editor receives them, in their order."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from acp import (
    plan_entry,
    start_tool_call,
    text_block,
    tool_content,
    tool_diff_content,
    update_agent_message_text,
    update_agent_thought_text,
    update_plan,
    update_tool_call,
)
from acp.helpers import SessionUpdate, ToolCallContentVariant
from acp.interfaces import Client
from acp.schema import (
    AgentPlanUpdate,
    FileEditToolCallContent,
    PlanEntryStatus,
    ToolCallLocation,
    ToolKind,
)

from ragforge import events
from ragforge.acp.texts import MAX_CHARS, clean, shorten
from ragforge.domain.text import Json, new_id, to_text
from ragforge.records import dataclass
from ragforge.show.calls import format_headline, format_outcome
from ragforge.show.console import sanitise
from ragforge.show.events import format_retry
from ragforge.show.hunks import is_new_file, read_hunks

logger = logging.getLogger(__name__)

Send: TypeAlias = Callable[[SessionUpdate], None]

PLAN = "plan"
SHOWN_EVERY_SECONDS = 0.5
_STATES: dict[str, PlanEntryStatus] = {"doing": "in_progress", "done": "completed"}


class UpdateQueue:
    """Sends updates of one session one after the other, for those who cannot wait."""

    def __init__(self, client: Client, session_id: str) -> None:
        self._client = client
        self._session_id = session_id
        self._waiting: asyncio.Queue[SessionUpdate] = asyncio.Queue()
        self._sending: asyncio.Task[None] | None = None

    def put(self, update: SessionUpdate) -> None:
        self._waiting.put_nowait(update)

    async def flush(self) -> None:
        """Return once everything was sent that was put in before."""
        await self._waiting.join()

    async def __aenter__(self) -> UpdateQueue:
        self._sending = asyncio.create_task(self._send())
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        await self.flush()
        if self._sending is not None:
            self._sending.cancel()
            with suppress(asyncio.CancelledError):
                await self._sending

    async def _send(self) -> None:
        while True:
            update = await self._waiting.get()
            try:
                await self._client.session_update(self._session_id, update)
            except ConnectionError:  # the editor has left: the turn ends in a moment
                pass
            except Exception:
                logger.exception("An update was not sent")
            finally:
                self._waiting.task_done()


@dataclass(frozen=True, slots=True)
class RunningCall:
    """A call that has not ended, under the id that the editor knows."""

    id: str
    name: str
    arguments: Json


class TurnUpdates:
    """Turns the events of one turn into updates."""

    def __init__(self, root: Path, send: Send) -> None:
        self._root = root
        self._send = send
        self._running: dict[str, RunningCall] = {}  # by the model's id, which may come again
        self._printed = ""  # by the command that runs
        self._shown_at = 0.0

    def on_event(self, event: events.Event) -> None:
        match event:
            case events.Text(text=text):
                self._send(update_agent_message_text(clean(text)))
            case events.Reasoning(text=text):
                self._send(update_agent_thought_text(clean(text)))
            case events.ToolStarted():
                self._start(event)
            case events.ToolFinished():
                self._finish(event)
            case events.CommandPrinted(text=text):
                self._show_printed(text)
            case events.ContextBuilt(receipt=receipt) if receipt.notices:
                self._send(update_agent_thought_text(f"{clean(receipt.notices)}\n\n"))
            case events.Noticed(text=text):
                self.say(f"{sanitise(text)}\n\n")
            case events.Waiting() if event.problem:  # of no use any more once it has answered
                self._send(update_agent_thought_text(f"{clean(format_retry(event))}\n\n"))
            case _:
                pass

    def say(self, text: str) -> None:
        """Send text that is not from the model as a paragraph of its answer."""
        self._send(update_agent_message_text(clean(text)))

    def find_running(self, names: tuple[str, ...], subject: str) -> RunningCall | None:
        """Return the running call of one of these tools; rather the one with this argument."""
        running = [call for call in self._running.values() if call.name in names]
        exact = [
            call
            for call in running
            if isinstance(call.arguments, dict) and subject in call.arguments.values()
        ]
        found = exact or running
        return found[-1] if found else None

    def end(self) -> None:
        """Mark the calls that still run as failed: the turn is over."""
        for call in self._running.values():
            self._send(update_tool_call(call.id, status="failed"))
        self._running.clear()

    def _start(self, event: events.ToolStarted) -> None:
        call = RunningCall(new_id(), event.name, event.arguments)
        self._running[event.id] = call
        self._printed = ""
        if event.name != PLAN:
            self._send(
                start_tool_call(
                    call.id,
                    format_title(event.name, event.arguments),
                    kind=get_kind(event.name),
                    status="in_progress",
                    locations=list_places(self._root, event.arguments),
                )
            )

    def _show_printed(self, text: str) -> None:
        """Show what a command prints, now and then: every update holds all that is shown."""
        self._printed = (self._printed + text)[-MAX_CHARS:]
        call = self.find_running(("run_command",), "")
        if call is not None and time.monotonic() - self._shown_at >= SHOWN_EVERY_SECONDS:
            self._shown_at = time.monotonic()
            content = [tool_content(text_block(clean(self._printed)))]
            self._send(update_tool_call(call.id, content=content))

    def _finish(self, event: events.ToolFinished) -> None:
        call = self._running.pop(event.id, None)
        if event.name == PLAN:
            if (plan := make_plan(event.result)) is not None:
                self._send(plan)
        elif call is not None:
            self._send(
                update_tool_call(
                    call.id,
                    status="completed" if event.success else "failed",
                    content=format_result(self._root, event.result, event.error),
                )
            )


def make_plan(result: Json) -> AgentPlanUpdate | None:
    """Return the steps of the tool `plan` as the plan of the protocol."""
    items = result.get("items") if isinstance(result, dict) else None
    if not isinstance(items, list):
        return None
    steps = [item for item in items if isinstance(item, dict)]
    return update_plan(
        plan_entry(
            clean(str(item.get("text", ""))), status=_STATES.get(str(item.get("state")), "pending")
        )
        for item in steps
    )


_TOOLS: dict[ToolKind, tuple[str, ...]] = {
    "edit": ("edit_file", "write_file"),
    "execute": ("command_output", "run_command"),
    "fetch": ("fetch_url", "web_search"),
    "read": ("git_diff", "git_log", "git_status", "read_file", "read_memory", "read_skill"),
    "search": (
        *("explore_code", "glob_files", "grep_files", "list_files", "search_code"),
        *("search_files", "search_memory", "sessions_about"),
    ),
    "think": ("batch_analyze", "delegate", "plan"),
}
_KINDS = {name: kind for kind, names in _TOOLS.items() for name in names}
_FILES = ("path", "file")
_PRINTED = ("stdout", "output", "stderr", "content", "text", "answer")


def get_kind(name: str) -> ToolKind:
    """Return the kind of a tool; tools that are not built in are `other`."""
    return _KINDS.get(name, "other")


def format_title(name: str, arguments: Json) -> str:
    """Return a call on one line."""
    return clean(f"{name} {format_headline(arguments)}".rstrip())


def list_places(root: Path, arguments: Json) -> list[ToolCallLocation]:
    """Return the file that a call is about, so that an editor can follow it."""
    if not isinstance(arguments, dict):
        return []
    named = (arguments.get(key) for key in _FILES)
    path = next((one for one in named if isinstance(one, str) and one), None)
    if path is None:
        return []
    line = arguments.get("start_line")
    number = line if isinstance(line, int) and line > 0 else None
    return [ToolCallLocation(path=clean(str(root / path)), line=number)]


def format_result(root: Path, result: Json, error: str | None) -> list[ToolCallContentVariant]:
    """Return the result of a call: the change of a file, or text."""
    if error is not None:
        return [tool_content(text_block(shorten(error)))]
    if isinstance(result, dict):
        diff, file = result.get("diff"), result.get("file")
        if isinstance(diff, str) and isinstance(file, str):
            return [*list_changes(root / file, diff)]
    text = _find_text(result)
    return [tool_content(text_block(shorten(text)))] if text.strip() else []


def _find_text(result: Json) -> str:
    if isinstance(result, dict):
        printed = [result[key] for key in _PRINTED if isinstance(result.get(key), str)]
        if "exit_code" in result:
            printed.append(format_outcome(result))
        if printed:
            return "\n".join(text.strip("\n") for text in printed if text.strip())
    return "" if result is None else to_text(result)


def list_changes(path: Path, diff: str) -> list[FileEditToolCallContent]:
    """Return the hunks of a unified diff, each as the text before and after it."""
    is_new = is_new_file(diff)
    changes = []
    for hunk in read_hunks(diff)[0]:
        old = "".join(f"{line.text}\n" for line in hunk.lines if line.sign != "+")
        new = "".join(f"{line.text}\n" for line in hunk.lines if line.sign != "-")
        changes.append(tool_diff_content(str(path), clean(new), None if is_new else clean(old)))
    return changes
