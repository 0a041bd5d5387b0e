"""A server: connected in the background, started again when it dies, given up at last."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from ragforge.domain import mcp_client
from ragforge.errors import ServerError, ServerGone
from ragforge.ports.mcp_client import Connect, ServerConnection
from ragforge.records import dataclass

log = logging.getLogger(__name__)

MAX_RESTARTS = 3
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """How long is waited for a server."""

    wait_seconds: float = 3.0  # by the first question
    connect_seconds: float = 30.0
    call_seconds: float = 60.0


class Server:
    """One configured server. A separate task holds the connection."""

    def __init__(
        self,
        spec: mcp_client.ServerSpec,
        connect: Connect,
        limits: ServerLimits,
        on_failure: Callable[[str], None],
        answer: mcp_client.AnswerServer = mcp_client.decline_question,
    ) -> None:
        """`on_failure` receives one line when the server fails for the first time.

        `answer` receives what the server asks the user during a call.
        """
        self.spec = spec
        self._connect = connect
        self._limits = limits
        self._on_failure = on_failure
        self._ask_user = answer
        self._asking = asyncio.Lock()
        self._question: asyncio.Task[mcp_client.ServerAnswer] | None = None
        self._timers: list[asyncio.Timeout] = []  # of the calls that are running
        self._state: mcp_client.ServerState = "off"
        self._offer = mcp_client.ServerOffer()
        self._problem = ""
        self._was_reported = False
        self._connection: ServerConnection | None = None
        self._holding: asyncio.Task[None] | None = None
        self._leaving = asyncio.Event()
        self._changed = asyncio.Event()  # it answers, or it has failed

    @property
    def report(self) -> mcp_client.ServerReport:
        """The state of the server; what it offers is known once it has answered."""
        return mcp_client.ServerReport(self.spec, self._state, self._offer, self._problem)

    def start(self) -> None:
        """Connect in the background, unless it is connected or was given up."""
        if self._state != "off":
            return
        if self.spec.problem:
            self._was_reported = self.spec.is_ignored
            self._fail(self.spec.problem)
            return
        self._expect_change()
        self._holding = asyncio.create_task(self._hold())

    def start_again(self) -> None:
        """Connect once more to a server that has failed: the user wants it."""
        if self._state == "failed" and not self.spec.problem:
            self._state = "off"
            self.start()

    async def wait(self) -> None:
        """Return when the server answers, or has failed."""
        await self._changed.wait()

    async def use(self, work: Callable[[ServerConnection], Awaitable[T]]) -> T:
        """Do something with the connection, within the time for a call.

        Raises ServerError if the server does not answer, or says that it cannot.
        """
        limit = self._limits.call_seconds
        connection = None
        try:
            async with asyncio.timeout(limit) as timer, self._count_call(timer):
                if self._state == "connecting":
                    await self.wait()
                if (connection := self._connection) is None:
                    raise ServerError(self.spec.name, self._problem or "it is not connected")
                return await work(connection)
        except ServerGone:
            if self._connection is connection:  # the next call waits until it is started again
                self._expect_change()
            raise
        except TimeoutError:
            problem = f"it did not answer within {limit:g} seconds"
            raise ServerError(self.spec.name, problem) from None

    @asynccontextmanager
    async def _count_call(self, timer: asyncio.Timeout) -> AsyncIterator[None]:
        """Note a running call; a question of the server ends with the last one."""
        self._timers.append(timer)
        try:
            yield
        finally:
            self._timers.remove(timer)
            if not self._timers and self._question is not None:
                self._question.cancel()

    async def _answer(self, question: mcp_client.ServerQuestion) -> mcp_client.ServerAnswer:
        """Put a question to the user whose call is running; its time stands still meanwhile."""
        time = asyncio.get_running_loop().time
        async with self._asking:
            left = {timer: (timer.when() or time()) - time() for timer in self._timers}
            if not left:
                return mcp_client.ServerAnswer("decline")
            for timer in left:
                timer.reschedule(None)
            self._question = asyncio.ensure_future(self._ask_user(question))
            try:
                return await self._question
            except asyncio.CancelledError:
                if self._timers:  # the connection ends, not the call
                    raise
                return mcp_client.ServerAnswer("cancel")
            finally:
                self._question = None
                for timer, seconds in left.items():
                    if timer in self._timers:
                        timer.reschedule(time() + seconds)

    async def close(self) -> None:
        """End the connection, and the server's process with it."""
        self._leaving.set()
        if self._holding is not None:
            await asyncio.wait([self._holding])

    async def _hold(self) -> None:
        """Keep a connection open; a server that ends is started again, a few times."""
        for restarts in range(MAX_RESTARTS + 1):
            was_ready = False
            problem = "it has ended"
            try:
                seconds = self._limits.connect_seconds
                connecting = self._connect(self.spec, seconds, self._leaving, self._answer)
                async with connecting as connection:
                    was_ready = True
                    self._be_ready(connection)
                    await self._wait_for_end(connection)
            except ServerError as error:
                problem = error.problem
            except Exception as error:  # the server and its library may fail in any way
                log.warning("MCP server %s failed", self.spec.name, exc_info=True)
                problem = f"{type(error).__name__}: {error}"
            finally:
                self._connection = None
            if self._leaving.is_set():
                self._state = "off"
                self._changed.set()
                return
            if not was_ready:
                break  # what does not start once does not start the second time
            if restarts < MAX_RESTARTS:
                self._expect_change()
                self._report_once("has ended and is started again")
        else:
            problem = f"it has ended {MAX_RESTARTS + 1} times"
        self._fail(problem)

    async def _wait_for_end(self, connection: ServerConnection) -> None:
        waits = [
            asyncio.ensure_future(connection.wait_until_gone()),
            asyncio.ensure_future(self._leaving.wait()),
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    def _be_ready(self, connection: ServerConnection) -> None:
        self._connection, self._offer = connection, connection.offer
        self._state, self._problem = "ready", ""
        self._changed.set()

    def _expect_change(self) -> None:
        self._state, self._connection = "connecting", None
        self._changed.clear()

    def _fail(self, problem: str) -> None:
        self._state, self._problem, self._offer = "failed", problem, mcp_client.ServerOffer()
        self._report_once(f"does not answer: {problem.rstrip('.')}. See `ragforge servers`")
        self._changed.set()

    def _report_once(self, what: str) -> None:
        log.info("MCP server %s %s", self.spec.name, what)
        if not self._was_reported:
            self._was_reported = True
            self._on_failure(f"The MCP server {self.spec.name} {what}.")
