"""Outputs: how `ragforge ask` takes its turns and reports them, to people and to scripts."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from ragforge.cli.guard import FAILED, INCOMPLETE
from ragforge.domain.modes import Mode
from ragforge.errors import RagForgeError
from ragforge.events import Event, Noticed, ToolFinished, Waiting
from ragforge.permissions import PermissionRequest, Verdict, deny_all
from ragforge.records import dataclass
from ragforge.show.answers import show_found, show_sources
from ragforge.show.console import open_console, print_json, print_note, sanitise
from ragforge.show.events import answer_to_json, event_to_json, format_retry

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.domain.chat import JsonSchema
    from ragforge.domain.mcp_client import ServerAnswer, ServerQuestion
    from ragforge.domain.turns import Answer
    from ragforge.permissions import Approve

CALL_WIDTH = 120


def is_terminal() -> bool:
    """Tell whether a user is at the terminal, to read and to be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


class Output:
    """Receives the events of a turn, answers its requests, and prints the answer at the end."""

    async def __aenter__(self) -> Output:
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        pass

    def on_event(self, event: Event) -> None:
        """Report an event; notices go to stderr, for people and scripts alike."""
        if isinstance(event, Noticed):
            print_note(event.text)
        elif isinstance(event, Waiting) and event.problem:
            print_note(format_retry(event))

    async def approve(self, request: PermissionRequest) -> Verdict:
        return await deny_all(request)

    async def answer_server(self, question: ServerQuestion) -> ServerAnswer:
        """Answer what an MCP server asks the user: without a terminal, no one can."""
        from ragforge.domain.mcp_client import decline_question

        return await decline_question(question)

    def end(self, answer: Answer) -> None:
        """Print the answer, where no event has shown it."""


class AsJson(Output):
    """One JSON object, at the end."""

    def end(self, answer: Answer) -> None:
        print_json(answer_to_json(answer))


class AsStream(Output):
    """Every event as a JSON object on a separate line, as it comes."""

    def on_event(self, event: Event) -> None:
        self.write(event_to_json(event))

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, RagForgeError):
            self.write({"type": "error", "message": str(error)})
        elif isinstance(error, asyncio.CancelledError):
            self.write({"type": "interrupted"})

    def write(self, value: object) -> None:
        """Print a line of JSON."""
        sys.stdout.write(json.dumps(value) + "\n")
        sys.stdout.flush()


class AsText(Output):
    """Only the answer on stdout; in a terminal, stderr shows tool calls meanwhile."""

    def on_event(self, event: Event) -> None:
        super().on_event(event)
        if isinstance(event, ToolFinished) and sys.stderr.isatty():
            from ragforge.show.call_lines import format_call
            from ragforge.show.screen import choose_signs

            err = open_console(stderr=True)
            err.print(format_call(event, choose_signs(sys.stderr.encoding), CALL_WIDTH))

    def end(self, answer: Answer) -> None:
        if answer.problem is not None:
            print_note(answer.problem)
        if answer.model is not None:
            open_console().print(sanitise(answer.content))
        show_end(answer)


class AsValue(AsText):
    """Only the answer on stdout, which is JSON that a program reads; nothing if it is not."""

    def end(self, answer: Answer) -> None:
        if answer.problem is not None:
            print_note(answer.problem)
        if answer.is_complete:
            sys.stdout.write(f"{answer.content}\n")


def show_end(answer: Answer) -> None:
    """Show the sources of an answer, and without a model, how to get one."""
    if answer.model is None:
        show_found(answer)
    else:
        show_sources(answer)
    receipt = answer.receipt  # what was not read or searched, and so could not be found
    says_reading = not answer.passages and receipt.reading in answer.content
    if notices := receipt.failures if says_reading else receipt.notices:
        print_note(notices)
    if answer.model is None and answer.problem is None:
        from ragforge.app.wiring.models import NO_CHAT_MODEL

        print_note(NO_CHAT_MODEL)


@dataclass(frozen=True, slots=True)
class Turns:
    """What all turns of one run have in common."""

    output: Output
    mode: Mode
    allow: Callable[[Approve], Approve]  # adds what the command line allows
    instructions: str = ""
    schema: JsonSchema | None = None

    async def take(
        self, app: App, text: str, session: str | None, approve: Approve | None = None
    ) -> int:
        """Answer a question, and return the exit code."""
        with app.servers.asking(self.output.answer_server):
            async with self.output:
                answer = await app.ask(
                    text,
                    session,
                    on_event=self.output.on_event,
                    approve=self.allow(approve or self.output.approve),
                    mode=self.mode,
                    instructions=self.instructions,
                    schema=self.schema,
                )
        self.output.end(answer)  # before the application closes, which may take a moment
        return 0 if answer.is_complete else INCOMPLETE

    async def take_all(self, app: App, session: str | None, output: AsStream) -> int:
        """Answer each message of standard input in one session, and return the exit code."""
        from ragforge.cli.stream_input import StreamInput

        codes = {0}
        session = session or (await app.sessions.ensure_current()).uuid
        async with StreamInput(output.write) as incoming:
            async for text in incoming.list_messages():
                try:
                    codes.add(await self.take(app, text, session, incoming.approve))
                except RagForgeError:  # the output has said it; the next message may succeed
                    codes.add(FAILED)
        return FAILED if incoming.failed or FAILED in codes else max(codes)
