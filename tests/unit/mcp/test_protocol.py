"""The protocol in both eras, over a connection that is only a list of lines."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, ClassVar

import pytest

from ragforge.errors import InputError
from ragforge.mcp.protocol import Client, Content, Dispatcher
from ragforge.mcp.serve import Connection
from ragforge.mcp.streams import LineSplitter

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "roots": {}},
}


class FakeCatalog:
    """Tools that do what their names say."""

    instructions = "Ask."
    lists: ClassVar[dict[str, Content]] = {
        "tools/list": {"tools": [{"name": "echo"}]},
        "prompts/list": {"prompts": []},
        "resources/list": {"resources": []},
        "resources/templates/list": {"resourceTemplates": []},
    }
    roots_forgotten = 0

    def __init__(self) -> None:
        self.started = asyncio.Event()

    def forget_roots(self) -> None:
        self.roots_forgotten += 1

    async def call_tool(self, params: Content, client: Client) -> Content:
        match params["name"]:
            case "wait":
                self.started.set()
                await asyncio.Event().wait()
            case "fail":
                raise InputError("Say something else.")
            case "crash":
                raise KeyError("inner")
            case "ask":
                one = await client.ask("first", "elicitation/create", {"message": "One?"})
                two = await client.ask("second", "elicitation/create", {"message": "Two?"})
                return {"content": [one, two]}
            case "report":
                client.channel.report("half")
        return {"content": []}

    async def get_prompt(self, params: Content, client: Client) -> Content:
        return {"messages": []}

    async def read_resource(self, params: Content, client: Client) -> Content:
        return {"contents": []}


class Talk:
    """A client that writes lines and reads messages."""

    def __init__(self) -> None:
        self.catalog = FakeCatalog()
        self.sent: list[dict[str, Any]] = []
        self._lines: asyncio.Queue[bytes | str | None] = asyncio.Queue()
        self._arrived = asyncio.Event()
        connection = Connection(Dispatcher(self.catalog, "r", "1"), self._receive)
        self._serving = asyncio.create_task(connection.serve(self._read()))

    def say(self, message: Mapping[str, Any] | bytes | None) -> None:
        given = message if isinstance(message, bytes | None) else json.dumps(message).encode()
        self._lines.put_nowait(given)

    def request(self, id: object, method: str, **params: object) -> None:
        self.say({"jsonrpc": "2.0", "id": id, "method": method, "params": params})

    async def wait_for(self, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while True:
            for message in self.sent:
                if fits(message):
                    return message
            self._arrived.clear()
            await self._arrived.wait()

    async def answer(self, id: object) -> dict[str, Any]:
        return await self.wait_for(lambda message: message.get("id") == id)

    async def end(self) -> list[dict[str, Any]]:
        self._lines.put_nowait("end")
        await self._serving
        return self.sent

    def _receive(self, message: Content) -> None:
        self.sent.append(dict(message))
        self._arrived.set()

    async def _read(self) -> AsyncIterator[bytes | None]:
        while not isinstance(line := await self._lines.get(), str):
            yield line


@pytest.fixture
async def talk() -> AsyncIterator[Talk]:
    opened = Talk()
    yield opened
    await opened.end()


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        (None, "2025-11-25"),
    ],
)
async def test_initialize_settles_an_older_revision(
    talk: Talk, wanted: str | None, given: str
) -> None:
    talk.request(0, "initialize", protocolVersion=wanted, capabilities={})
    talk.request(1, "tools/list")
    talk.request(2, "ping")
    assert (await talk.answer(0))["result"]["protocolVersion"] == given
    assert (await talk.answer(1))["result"] == {"tools": [{"name": "echo"}]}
    assert (await talk.answer(2))["result"] == {}


async def test_todays_revision_needs_no_initialize(talk: Talk) -> None:
    talk.request("a", "server/discover", _meta=META)
    talk.request("b", "tools/list", _meta=META)
    found = (await talk.answer("a"))["result"]
    assert found["supportedVersions"][0] == "2026-07-28"
    assert (found["resultType"], found["cacheScope"]) == ("complete", "public")
    listed = (await talk.answer("b"))["result"]
    assert listed["tools"] == [{"name": "echo"}]
    assert listed["ttlMs"] > 0
    assert listed["_meta"]["io.modelcontextprotocol/serverInfo"] == {"name": "r", "version": "1"}


async def test_both_eras_may_be_mixed(talk: Talk) -> None:
    talk.request(0, "initialize", protocolVersion="2025-06-18", capabilities={})
    talk.request(1, "tools/list", _meta=META)
    talk.request(2, "tools/list")
    assert "resultType" in (await talk.answer(1))["result"]
    assert "resultType" not in (await talk.answer(2))["result"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{nonsense", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', None),
        (None, -32700),  # a line that is too long
    ],
)
async def test_a_bad_line_is_answered_and_the_next_one_served(
    talk: Talk, line: bytes | None, code: int | None
) -> None:
    talk.say(line)
    talk.request("next", "ping")
    await talk.answer("next")
    assert talk.sent[0].get("error", {}).get("code") == code


async def test_an_unknown_revision_is_refused_with_those_there_are(talk: Talk) -> None:
    meta = {**META, "io.modelcontextprotocol/protocolVersion": "1900-01-01"}
    talk.request(1, "tools/list", _meta=meta)
    error = (await talk.answer(1))["error"]
    assert error["code"] == -32022
    assert error["data"]["requested"] == "1900-01-01"
    assert "2026-07-28" in error["data"]["supported"]


async def test_an_unknown_method_is_refused(talk: Talk) -> None:
    talk.request(1, "tools/destroy", _meta=META)
    assert (await talk.answer(1))["error"]["code"] == -32601


async def test_errors_are_sentences_and_a_crash_shows_nothing_inside(talk: Talk) -> None:
    talk.request(1, "tools/call", name="fail", _meta=META)
    talk.request(2, "tools/call", name="crash", _meta=META)
    assert (await talk.answer(1))["error"]["message"] == "Say something else."
    assert (await talk.answer(2))["error"]["message"] == "KeyError. See the log for details."


async def test_a_cancelled_request_is_not_answered_and_its_id_is_free_again(talk: Talk) -> None:
    talk.request(1, "tools/call", name="wait", _meta=META)
    await talk.catalog.started.wait()
    talk.request(1, "ping")
    assert "in use" in (await talk.answer(1))["error"]["message"]
    talk.sent.clear()
    cancelled = {"requestId": 1}
    talk.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})
    talk.request(2, "ping")
    await talk.answer(2)
    talk.request(1, "ping")
    assert (await talk.answer(1))["result"] == {}
    assert len(talk.sent) == 2


async def test_progress_is_reported_to_callers_that_want_it(talk: Talk) -> None:
    talk.request(1, "tools/call", name="report", _meta={**META, "progressToken": "p"})
    talk.request(2, "tools/call", name="report", _meta=META)
    await talk.answer(1)
    await talk.answer(2)
    reports = [one["params"] for one in talk.sent if one.get("method") == "notifications/progress"]
    assert reports == [{"progressToken": "p", "progress": 1, "message": "half"}]


async def test_todays_client_gets_questions_as_a_result_and_keeps_its_answers(talk: Talk) -> None:
    talk.request(1, "tools/call", name="ask", _meta=META)
    first = (await talk.answer(1))["result"]
    assert first["resultType"] == "input_required"
    assert list(first["inputRequests"]) == ["first"]
    talk.request(
        2,
        "tools/call",
        name="ask",
        _meta=META,
        inputResponses={"first": {"action": "accept"}},
        requestState=first["requestState"],
    )
    second = (await talk.answer(2))["result"]
    assert list(second["inputRequests"]) == ["second"]
    talk.request(
        3,
        "tools/call",
        name="ask",
        _meta=META,
        inputResponses={"second": {"action": "cancel"}},
        requestState=second["requestState"],
    )
    done = (await talk.answer(3))["result"]
    assert done["content"] == [{"action": "accept"}, {"action": "cancel"}]


async def test_an_older_client_is_asked_over_the_connection(talk: Talk) -> None:
    talk.request(0, "initialize", protocolVersion="2025-06-18", capabilities={"elicitation": {}})
    talk.request(1, "tools/call", name="ask")
    for number in ("ragforge-1", "ragforge-2"):
        asked = await talk.answer(number)
        assert asked["method"] == "elicitation/create"
        talk.say({"jsonrpc": "2.0", "id": number, "result": {"action": "accept"}})
    assert (await talk.answer(1))["result"]["content"] == [{"action": "accept"}] * 2


async def test_a_question_of_a_cancelled_request_is_taken_back(talk: Talk) -> None:
    talk.request(0, "initialize", protocolVersion="2025-06-18", capabilities={"elicitation": {}})
    talk.request(1, "tools/call", name="ask")
    await talk.answer("ragforge-1")
    cancelled = {"requestId": 1}
    talk.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})
    gone = await talk.wait_for(lambda one: one.get("method") == "notifications/cancelled")
    assert gone["params"]["requestId"] == "ragforge-1"


async def test_a_client_that_refuses_a_question_gets_an_error(talk: Talk) -> None:
    talk.request(0, "initialize", protocolVersion="2025-06-18", capabilities={"elicitation": {}})
    talk.request(1, "tools/call", name="ask")
    await talk.answer("ragforge-1")
    talk.say({"jsonrpc": "2.0", "id": "ragforge-1", "error": {"code": -1, "message": "no"}})
    assert "did not answer" in (await talk.answer(1))["error"]["message"]


async def test_requests_are_finished_when_the_input_ends_but_no_question_is_waited_for() -> None:
    talk = Talk()
    talk.request(0, "initialize", protocolVersion="2025-06-18", capabilities={"elicitation": {}})
    talk.request(1, "tools/call", name="ask")
    talk.request(2, "tools/call", name="echo")
    await talk.answer("ragforge-1")
    sent = await talk.end()
    assert [one["id"] for one in sent if "result" in one] == [0, 2]


async def test_changed_roots_are_asked_for_again(talk: Talk) -> None:
    talk.say({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
    talk.request(1, "ping")
    await talk.answer(1)
    assert talk.catalog.roots_forgotten == 1


def test_lines_are_split_wherever_pieces_end() -> None:
    text = b'{"a": 1}\n\n{"b": 2}\r\n{"c": 3}'
    for size in range(1, len(text) + 1):
        splitter = LineSplitter()
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        lines = [line for piece in pieces for line in splitter.split(piece)]
        assert [*lines, *splitter.finish()] == [b'{"a": 1}', b"", b'{"b": 2}\r', b'{"c": 3}']


def test_a_line_that_is_too_long_is_reported_once_and_not_kept() -> None:
    splitter = LineSplitter(limit=10)
    pieces = (b"x" * 8, b"x" * 8, b"x" * 80, b"\nshort\n")
    assert [line for piece in pieces for line in splitter.split(piece)] == [None, b"short"]
