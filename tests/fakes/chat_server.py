"""A local provider: speaks one wire format and says what a test wrote down for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from tests.fakes.http_server import Answered, Asked, HttpServer
from tests.fakes.wires import Says, Wire


@dataclass(frozen=True, slots=True)
class Fails:
    """An error response."""

    status: int
    message: str = "something is wrong"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Breaks:
    """An answer whose connection breaks after some chunks."""

    says: Says
    after: int = 1


@dataclass(frozen=True, slots=True)
class EndsEarly:
    """A stream that ends in order after some chunks, and perhaps an odd one."""

    says: Says
    after: int
    odd: bytes = b""


@dataclass(frozen=True, slots=True)
class Trickles:
    """A stream that sends a byte now and then for ever, once some chunks are sent."""

    says: Says
    after: int
    pause: float = 0.02


@dataclass(frozen=True, slots=True)
class Garbles:
    """A body that is not what was promised."""

    body: bytes = b'{"choices": [{'


@dataclass(frozen=True, slots=True)
class Dawdles:
    """An answer that comes late."""

    says: Says
    seconds: float


@dataclass(frozen=True, slots=True)
class Holds:
    """An answer that stops after some chunks until a test lets it go on."""

    says: Says
    after: int
    until: asyncio.Event = field(default_factory=asyncio.Event)


Step: TypeAlias = Says | Fails | Breaks | EndsEarly | Trickles | Garbles | Dawdles | Holds
Aside: TypeAlias = Says | Callable[[Asked], Says]


TASK = '"# Task\\n'
"""How a request begins that is not part of a turn: a title, a summary."""


class ChatServer(HttpServer):
    """Takes one step of the script for each request; the last one stays.

    With `aside`, requests that are not part of a turn get that answer, or the one that it finds
    for them, and use no step. Requests about the server itself use no step either and are not
    recorded: it says how large the `window` of its model is, if it has one.
    """

    def __init__(
        self,
        wire: Wire,
        script: Iterable[Step],
        aside: Aside | None = None,
        window: int | None = None,
    ) -> None:
        super().__init__(self._next)
        self.window = window
        self.wire = wire
        self._script = list(script)
        self._aside = aside

    @property
    def asked_in_turns(self) -> list[Asked]:
        return [asked for asked in self.asked if TASK not in asked.text]

    @property
    def base_url(self) -> str:
        return self.url + self.wire.base_path

    def _describe(self, asked: Asked) -> Answered:
        if self.window is None or not asked.path.endswith("/models"):
            return Answered(404)
        models = {"data": [{"id": self.wire.model, "max_model_len": self.window}]}
        return Answered(chunks=(json.dumps(models).encode(),))

    async def __aenter__(self) -> ChatServer:
        await super().__aenter__()
        return self

    def _next(self, asked: Asked) -> Answered:
        if asked.method == "GET":
            self.asked.remove(asked)
            return self._describe(asked)
        if self._aside is not None and TASK in asked.text:
            says = self._aside if isinstance(self._aside, Says) else self._aside(asked)
            return self.wire.answer(says, asked)
        step = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        match step:
            case Says():
                return self.wire.answer(step, asked)
            case Fails(status=status, message=message, headers=headers):
                return Answered(status, (self.wire.error(status, message),), headers=headers)
            case Breaks(says=says, after=after):
                whole = self.wire.answer(says, asked)
                kept = whole.chunks[:after]
                if len(whole.chunks) == 1:  # not a stream: half of the body
                    kept = (whole.chunks[0][: len(whole.chunks[0]) // 2],)
                return replace(whole, chunks=kept, cut=True)
            case EndsEarly(says=says, after=after, odd=odd):
                whole = self.wire.answer(says, asked)
                return replace(whole, chunks=(*whole.chunks[:after], *([odd] if odd else [])))
            case Trickles(says=says, after=after, pause=pause):
                whole = self.wire.answer(says, asked)
                return replace(whole, chunks=whole.chunks[:after], trickle=pause)
            case Garbles(body=body):
                return Answered(chunks=(body,))
            case Holds(says=says, after=after, until=until):
                return replace(self.wire.answer(says, asked), held=until, held_after=after)
            case Dawdles(says=says, seconds=seconds):
                return replace(self.wire.answer(says, asked), delay=seconds)
