"""Stream input: the messages of a program, and its answers to permission requests, line by line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from itertools import count
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ragforge.errors import InputError
from ragforge.mcp.streams import read_lines
from ragforge.permissions import PermissionRequest, Verdict

STDIN = 0
ENDED = "The input has ended: no one can approve this."


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


class _Message(_Line):
    """A message of the user."""

    type: Literal["user"]
    text: str = Field(min_length=1)


class _Permission(_Line):
    """The answer to a permission request."""

    type: Literal["permission"]
    id: str
    answer: Literal["once", "always", "deny"]
    pattern: str = ""
    reason: str = ""


_LINES: TypeAdapter[_Message | _Permission] = TypeAdapter(
    Annotated[_Message | _Permission, Field(discriminator="type")]
)


class StreamInput:
    """Reads standard input while turns run."""

    def __init__(self, write: Callable[[object], None]) -> None:
        """`write` prints a line of JSON."""
        self._write = write
        self._messages: asyncio.Queue[str | None] = asyncio.Queue()
        self._asked: dict[str, asyncio.Future[Verdict]] = {}
        self._ids = count(1)
        self._has_ended = False
        self._reading: asyncio.Task[None] | None = None
        self.failed = False  # a line could not be understood

    async def __aenter__(self) -> StreamInput:
        self._reading = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        if self._reading is not None:
            self._reading.cancel()

    async def list_messages(self) -> AsyncIterator[str]:
        """Yield the messages as they come, until the input ends."""
        while (text := await self._messages.get()) is not None:
            yield text

    async def approve(self, request: PermissionRequest) -> Verdict:
        """Print a request, and wait for its answer; where the input has ended, it is no."""
        name = f"permission-{next(self._ids)}"
        answer: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        self._asked[name] = answer
        self._write(
            {
                "type": "permission",
                "id": name,
                "action": request.action,
                "subject": request.subject,
                "preview": request.preview,
                "always": list(request.always),
                "network": request.network,
            }
        )
        if self._has_ended:
            self._deny_all()
        try:
            return await answer
        finally:
            del self._asked[name]

    async def _read(self) -> None:
        number = 0
        try:
            async for line in read_lines(STDIN):
                number += 1
                if line is None or line.strip():
                    try:
                        self._take(line, number)
                    except InputError as error:
                        self.failed = True
                        self._write({"type": "error", "message": str(error)})
        finally:
            self._has_ended = True
            self._deny_all()
            self._messages.put_nowait(None)

    def _take(self, line: bytes | None, number: int) -> None:
        """Queue a message, or give an answer to who waits for it. Raises InputError."""
        if line is None:
            raise InputError(f"Line {number} of the input is too long.")
        try:
            found = _LINES.validate_json(line)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, problem["loc"]))
            raise InputError(
                f"Line {number} of the input is neither a message nor an answer: "
                f"{f'{where}: ' if where else ''}{problem['msg']}."
            ) from error
        if isinstance(found, _Message):
            self._messages.put_nowait(found.text)
            return
        waiting = self._asked.get(found.id)
        if waiting is None or waiting.done():
            raise InputError(
                f"Line {number} of the input answers {found.id!r}, which is not asked."
            )
        waiting.set_result(Verdict(found.answer, found.pattern, found.reason))

    def _deny_all(self) -> None:
        for waiting in self._asked.values():
            if not waiting.done():
                waiting.set_result(Verdict("deny", reason=ENDED))
