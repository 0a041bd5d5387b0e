"""Ask: one request to a model, which is loaded then, with retries and within the spend cap."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import field
from typing import TypeAlias, TypeVar

from ragforge.domain.chat import ChatRequest, ReasoningDelta, Reply, StreamEvent, TextDelta, Usage
from ragforge.errors import (
    AnswerInterrupted,
    BadAnswer,
    ModelBusy,
    ModelError,
    ModelUnavailable,
    ModelUnreachable,
    SpendCapReached,
)
from ragforge.ports.models import ChatModel
from ragforge.records import dataclass

Requests: TypeAlias = list[tuple[str, Usage]]
"""The models that were asked, and what that took."""
_COLLECTED: ContextVar[Requests | None] = ContextVar("collected", default=None)
log = logging.getLogger(__name__)

Result = TypeVar("Result")
Sleep = Callable[[float], Awaitable[None]]
OnRetry = Callable[[int, float, ModelError], None]
"""Called with the number of the next attempt, the seconds until it, and what went wrong."""

OnPiece: TypeAlias = Callable[[TextDelta | ReasoningDelta], None]


@contextmanager
def collect_requests() -> Iterator[Requests]:
    """Collect the requests to chat models that are made here and in tasks that begin here."""
    requests: Requests = []
    token = _COLLECTED.set(requests)
    try:
        yield requests
    finally:
        _COLLECTED.reset(token)


def note_request(model: str, usage: Usage) -> None:
    """Add a request to those that are being collected."""
    if (requests := _COLLECTED.get()) is not None:
        requests.append((model, usage))


class Meter:
    """Counts requests, tokens and money.

    Its `parent` counts the same requests too; both caps apply.
    """

    def __init__(self, cap_usd: float | None = None, parent: Meter | None = None) -> None:
        self._cap = cap_usd
        self._parent = parent
        self._total = Usage()

    @property
    def total(self) -> Usage:
        return self._total

    def check(self) -> None:
        """Raises SpendCapReached once the cap is spent. Call it before each request."""
        if self._parent is not None:
            self._parent.check()
        spent = self._total.usd or 0.0
        if self._cap is not None and spent >= self._cap:
            raise SpendCapReached(spent, self._cap)

    def add(self, usage: Usage) -> None:
        self._total = self._total + usage
        if self._parent is not None:
            self._parent.add(usage)


def ignore_retry(attempt: int, wait: float, error: ModelError) -> None:
    """Ignore that a call is made again."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often to try and how long to wait, in seconds."""

    attempts: int = 5
    first_wait: float = 0.5
    longest_wait: float = 60.0
    connects: int = 2  # attempts while nothing answers at the address: each may take long

    def count_attempts(self, error: ModelError) -> int:
        """Return how often a call that fails in this way is made."""
        unreachable = isinstance(error, ModelUnreachable)
        return min(self.connects, self.attempts) if unreachable else self.attempts

    def wait_after(self, attempt: int, error: ModelUnavailable) -> float | None:
        """Return how long to wait after a failed attempt, or None to give up.

        A provider's own time is used, up to the longest wait. If it is longer, the error is
        raised, so that the user learns of it.
        """
        if attempt >= self.count_attempts(error):
            return None
        if isinstance(error, ModelBusy) and error.retry_after is not None:
            return error.retry_after if error.retry_after <= self.longest_wait else None
        wait: float = self.first_wait * 2 ** (attempt - 1)
        # Spread out: many that failed together must not come back together.
        return min(wait, self.longest_wait) * random.uniform(0.5, 1.0)


async def with_retries(
    call: Callable[[], Awaitable[Result]],
    patience: RetryPolicy,
    sleep: Sleep = asyncio.sleep,
    on_retry: OnRetry = ignore_retry,
) -> Result:
    """Make a call, and make it again while the provider is busy or fails.

    Raises what the last attempt raised; errors that waiting cannot mend are raised at once.
    """
    attempt = 1
    while True:
        try:
            return await call()
        except ModelError as error:
            log.warning("Attempt %d failed: %s: %s", attempt, type(error).__name__, error)
            if not isinstance(error, ModelUnavailable):
                raise
            wait = patience.wait_after(attempt, error)
            if wait is None:
                raise
            attempt += 1
            on_retry(attempt, wait, error)
        log.info("Attempt %d of %d follows in %.1f s", attempt, patience.attempts, wait)
        await sleep(wait)


@dataclass(frozen=True, slots=True)
class ChatClient:
    """A model with its retry policy and its spend cap."""

    model: ChatModel
    patience: RetryPolicy = field(default_factory=RetryPolicy)
    meter: Meter = field(default_factory=Meter)
    on_retry: OnRetry = ignore_retry

    async def ask(self, request: ChatRequest) -> Reply:
        """Return the model's answer. Raises ModelError."""

        async def once() -> Reply:
            self.meter.check()
            reply = await self.model.reply(request)
            self._count(reply)
            return reply

        return await with_retries(once, self.patience, on_retry=self.on_retry)

    def _count(self, reply: Reply) -> None:
        self.meter.add(reply.usage)
        note_request(self.model.name, reply.usage)

    async def stream(self, request: ChatRequest, on_piece: OnPiece) -> Reply:
        """Return the model's answer, and report its pieces as they come. Raises ModelError.

        Once a piece was reported there are no retries: it would be reported twice.
        AnswerInterrupted then.
        """

        async def once() -> Reply:
            self.meter.check()
            reported = False
            try:
                async for event in self.model.stream(request):
                    if isinstance(event, Reply):
                        self._count(event)
                        return event
                    reported = True
                    on_piece(event)
            except ModelError as error:
                if reported:
                    raise AnswerInterrupted(str(error)) from error
                raise
            raise BadAnswer(f"{self.model.name} ended its answer without a word.")

        return await with_retries(once, self.patience, on_retry=self.on_retry)


@dataclass(slots=True)
class LazyModel:
    """A chat model that is loaded on first use; errors of loading are raised then."""

    name: str
    calls_tools: bool
    open: Callable[[], ChatModel]
    _opened: ChatModel | None = field(default=None, init=False)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    @property
    def window(self) -> int | None:
        return None if self._opened is None else self._opened.window

    async def prepare(self) -> None:
        with suppress(ModelError):  # the first request raises it
            await (await self._load()).prepare()

    async def reply(self, request: ChatRequest) -> Reply:
        return await (await self._load()).reply(request)

    async def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
        async for event in (await self._load()).stream(request):
            yield event

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.close()

    async def _load(self) -> ChatModel:
        """Return the model. It is opened in a thread: that imports a provider's library."""
        async with self._opening:
            if self._opened is None:
                self._opened = await asyncio.to_thread(self.open)
        return self._opened
