"""The pool: servers are connected in the background, and none of them holds anything up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from ragforge.domain.mcp_client import (
    ServerOffer,
    ServerPrompt,
    ServerResource,
    ServerSpec,
    ServerTool,
)
from ragforge.errors import InputError, ServerError, ServerGone
from ragforge.mcp_client.pool import ServerPool, name_tool
from ragforge.mcp_client.server import MAX_RESTARTS, ServerLimits
from ragforge.ports.mcp_client import ServerConnection

OFFER = ServerOffer(
    (ServerTool("forecast", "The weather.", {"type": "object"}),),
    (ServerResource("weather://today"),),
    (ServerPrompt("compare", "Two cities.", ("city", "other"), ("city",)),),
)


@dataclass
class FakeConnection:
    """A connection that a test ends, or keeps waiting."""

    name: str
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    hangs: bool = False
    was_cancelled: bool = False
    offer: ServerOffer = OFFER

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        if self.hangs:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.was_cancelled = True
                raise
        if self.gone.is_set():
            raise ServerGone(self.name, "it has ended")
        return f"{tool} {dict(arguments)}"

    async def read(self, uri: str) -> str:
        if uri != "weather://today":
            raise ServerError(self.name, "there is no such resource")
        return "Sunny."

    async def word_prompt(self, prompt: str, arguments: Mapping[str, str]) -> str:
        return f"{prompt} {dict(arguments)}"

    async def wait_until_gone(self) -> None:
        await self.gone.wait()


class Machine:
    """Connects to servers by their commands: `works`, `dead`, or `slow` until it is let go."""

    def __init__(self) -> None:
        self.connections: list[FakeConnection] = []
        self.open = 0
        self.let_go = asyncio.Event()

    @asynccontextmanager
    async def connect(
        self, spec: ServerSpec, seconds: float, leaving: asyncio.Event, answer: object
    ) -> AsyncIterator[ServerConnection]:
        if spec.command == "dead":
            raise ServerError(spec.name, "'dead' cannot be started")
        while spec.command == "slow" and not self.let_go.is_set():
            await asyncio.sleep(0)
            if leaving.is_set():
                raise ServerError(spec.name, "its user left")
        connection = FakeConnection(spec.name)
        self.connections.append(connection)
        self.open += 1
        try:
            yield connection
        finally:
            self.open -= 1


@asynccontextmanager
async def pool_of(machine: Machine, *commands: str, **limits: float) -> AsyncIterator[ServerPool]:
    specs = [ServerSpec(f"{command}-{at}", "", command) for at, command in enumerate(commands)]
    pool = ServerPool(lambda: specs, machine.connect, ServerLimits(**limits))
    try:
        yield pool
    finally:
        await pool.close()
        assert machine.open == 0, "a connection was left open"


async def until(is_true: Callable[[], bool]) -> None:
    while not is_true():  # noqa: ASYNC110
        await asyncio.sleep(0)


async def until_ready_again(pool: ServerPool, machine: Machine, many: int, at: int = 0) -> None:
    await until(
        lambda: len(machine.connections) == many and pool.list_reports()[at].state == "ready"
    )


async def test_those_that_answer_are_used_while_others_are_slow_or_dead() -> None:
    machine = Machine()
    async with pool_of(machine, "works", "dead", "slow", wait_seconds=0.05) as pool:
        await pool.wait()
        reports = pool.list_reports()
        assert [report.state for report in reports] == ["ready", "failed", "connecting"]
        assert await pool.call("works-0", "forecast", {"city": "Rome"}) == (
            "forecast {'city': 'Rome'}"
        )
        with pytest.raises(ServerError, match="'dead' cannot be started"):
            await pool.call("dead-1", "forecast", {})
        machine.let_go.set()
        await pool.wait(60)
        assert pool.list_reports()[2].state == "ready"


async def test_only_the_first_question_waits() -> None:
    machine = Machine()
    async with pool_of(machine, "slow", wait_seconds=0.2) as pool:
        async with asyncio.timeout(60):  # 200 seconds, if each of them waited
            for _ in range(1_000):
                await pool.wait()
        assert pool.list_reports()[0].state == "connecting"


async def test_a_server_that_fails_is_reported_once_in_one_line() -> None:
    machine = Machine()
    async with pool_of(machine, "dead", "works") as pool:
        await pool.wait()
        (line,) = pool.take_news()
        assert line.startswith("The MCP server dead-0 does not answer: 'dead' cannot be started.")
        assert pool.take_news() == []
        machine.connections[0].gone.set()
        await until_ready_again(pool, machine, 2, at=1)
        machine.connections[1].gone.set()
        await until_ready_again(pool, machine, 3, at=1)
        assert pool.take_news() == ["The MCP server works-1 has ended and is started again."]


async def test_a_server_that_ends_is_started_again_a_few_times_and_then_given_up() -> None:
    machine = Machine()
    async with pool_of(machine, "works") as pool:
        await pool.wait()
        for started in range(1, MAX_RESTARTS + 1):
            machine.connections[-1].gone.set()
            await until_ready_again(pool, machine, started + 1)
            assert await pool.call("works-0", "forecast", {})
        machine.connections[-1].gone.set()
        await until(lambda: pool.list_reports()[0].state == "failed")
        assert len(machine.connections) == MAX_RESTARTS + 1
        with pytest.raises(ServerError, match="has ended 4 times"):
            await pool.call("works-0", "forecast", {})
        pool.start()
        assert pool.list_reports()[0].state == "failed", "a turn does not start it again"
        pool.start_again("works-0")
        assert await pool.call("works-0", "forecast", {}), "its user does"


async def test_a_call_has_a_deadline_and_is_cancelled_with_it() -> None:
    machine = Machine()
    async with pool_of(machine, "works", call_seconds=0.05) as pool:
        await pool.wait()
        machine.connections[0].hangs = True
        with pytest.raises(ServerError, match=r"did not answer within 0\.05 seconds"):
            await pool.call("works-0", "forecast", {})
        assert machine.connections[0].was_cancelled
        machine.connections[0].hangs = False
        assert await pool.call("works-0", "forecast", {}), "others are not concerned"


async def test_an_interrupted_call_reaches_the_connection_as_an_interruption() -> None:
    machine = Machine()
    async with pool_of(machine, "works") as pool:
        await pool.wait()
        machine.connections[0].hangs = True
        calling = asyncio.create_task(pool.call("works-0", "forecast", {}))
        await asyncio.sleep(0.01)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        assert machine.connections[0].was_cancelled


async def test_closing_ends_even_what_is_still_connecting() -> None:
    machine = Machine()
    async with pool_of(machine, "slow", "works") as pool:
        pool.start()
        await asyncio.sleep(0)
    assert machine.open == 0


async def test_resources_that_a_question_names_come_with_it_or_with_the_reason() -> None:
    machine = Machine()
    async with pool_of(machine, "works", "dead") as pool:
        await pool.wait()
        question = "Is @works-0:weather://today, better than @works-0:weather://then or a@b:c?"
        assert await pool.read_mentioned(question) == [
            "@works-0:weather://today\nSunny.",
            "@works-0:weather://then\n(It could not be read: MCP server works-0: there is no such "
            "resource)",
        ]
        (dead,) = await pool.read_mentioned("Read @dead-1:x://y")
        assert "cannot be started" in dead
        assert await pool.read_mentioned("mail me @unknown:thing and @src/login.py") == []


async def test_a_prompt_takes_its_words_in_order_or_by_name() -> None:
    machine = Machine()
    async with pool_of(machine, "works") as pool:
        word = pool.word_prompt
        assert await word("works-0", "compare", ["Rome"]) == "compare {'city': 'Rome'}"
        assert await word("works-0", "compare", ["other=Bern", "Rome"]) == (
            "compare {'other': 'Bern', 'city': 'Rome'}"
        )
        with pytest.raises(
            InputError, match=r"city is missing\. Write: /works-0:compare CITY OTHER"
        ):
            await word("works-0", "compare", [])
        with pytest.raises(InputError, match="Too many"):
            await word("works-0", "compare", ["a", "b", "c"])
        with pytest.raises(InputError, match=r"has no prompt 'x'. It has: compare\."):
            await word("works-0", "x", [])
        with pytest.raises(InputError, match="There is no MCP server 'nobody'"):
            await word("nobody", "x", [])
        assert list(pool.list_prompts()) == ["works-0:compare"]
        assert pool.list_resources() == ["works-0:weather://today"]


def test_tools_have_names_that_every_provider_takes_and_no_two_the_same() -> None:
    assert name_tool("github", "create_issue") == "github__create_issue"
    odd = [name_tool("s", tool) for tool in ("a/b", "a.b", "a_b", "Wetter für heute", "x" * 200)]
    assert len(set(odd)) == len(odd)
    assert all(len(name) <= 64 and name.isascii() for name in odd)
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz_-ABCW0123456789") for name in odd)
    assert name_tool("s", "x" * 200) != name_tool("s", "x" * 201)
