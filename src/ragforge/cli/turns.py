"""Turns: how one run of `ragforge ask` takes its question, or the messages of a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ragforge.cli.exit_codes import FAILED, INCOMPLETE
from ragforge.cli.outputs import AsStream, Output
from ragforge.domain.modes import Mode
from ragforge.errors import RagForgeError
from ragforge.records import dataclass

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.domain.chat import JsonSchema
    from ragforge.permissions import Approve


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
