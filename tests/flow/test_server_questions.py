"""What MCP servers ask the user during a call, over both kinds of the protocol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ragforge import App, load_settings, open_app
from ragforge.agent.rules import make_rule
from ragforge.domain.mcp_client import AnswerServer, ServerAnswer, ServerQuestion
from tests.fakes.chat_server import ChatServer
from tests.fakes.wires import Call, OpenAiWire, Says

server = pytest.importorskip(
    "tests.fakes.mcp_server", reason="no MCP client: the package mcp is not installed"
)
asking = pytest.importorskip("tests.fakes.asking_server", reason="the package mcp is missing")

TRIP = Call("asking__plan_trip", {"place": "Rome"}, "call-1")
VALUES = {"city": "Rome", "unit": "celsius", "days": 3}


@pytest.fixture
def engine() -> str:
    return "sqlite"


class User:
    """Answers questions, and remembers them."""

    def __init__(self, answer: ServerAnswer, waits: asyncio.Event | None = None) -> None:
        self.questions: list[ServerQuestion] = []
        self.was_asked = asyncio.Event()
        self._answer = answer
        self._waits = waits

    async def answer(self, question: ServerQuestion) -> ServerAnswer:
        self.questions.append(question)
        self.was_asked.set()
        if self._waits is not None:
            await self._waits.wait()
        return self._answer


@asynccontextmanager
async def calling(
    environ: Mapping[str, str], project: Path, tmp_path: Path, call: Call, **more: Any
) -> AsyncIterator[App]:
    """Open an application whose model makes a call of a server that asks."""
    script = (Says(calls=(call,)), Says("Done."))
    make = lambda url: asking.make_asking_server()  # noqa: E731
    async with (
        server.serve_http(make=make, is_old=more.pop("is_old", False)) as url,
        ChatServer(OpenAiWire(), script, aside=Says('{"title": "A trip"}')) as model,
    ):
        variables = {
            **environ,
            "RAGFORGE_LLM__MODEL": f"openai:{model.wire.model}",
            "RAGFORGE_LLM__BASE_URL": model.base_url,
            "RAGFORGE_MCP__SERVERS": json.dumps({"asking": {"url": url}}),
            "RAGFORGE_MCP__WAIT_SECONDS": "120",
            "RAGFORGE_MCP__CONNECT_SECONDS": "120",
            "RAGFORGE_AGENT__STATE_DIR": str(tmp_path / "state"),
            **more,
        }
        settings = load_settings(project, environ=variables).settings
        async with open_app(settings, project) as app:
            app.rules.add(make_rule("allow", "mcp", "asking__*"))
            yield app


async def ask(app: App, answer: AnswerServer | None = None) -> str:
    """Take a turn, and return what the call gave, or why it failed."""
    if answer is None:
        found = await app.ask("Where to?")
    else:
        with app.servers.asking(answer):
            found = await app.ask("Where to?")
    [call] = found.tool_calls
    assert call.result is not None
    if call.success:
        assert isinstance(call.result.result, dict)
        return str(call.result.result["content"])
    return str(call.result.error)


@pytest.mark.parametrize("is_old", [False, True], ids=["new protocol", "old protocol"])
async def test_the_users_answer_reaches_the_server(
    environ: dict[str, str], project: Path, tmp_path: Path, is_old: bool
) -> None:
    user = User(ServerAnswer("accept", VALUES))
    async with calling(environ, project, tmp_path, TRIP, is_old=is_old) as app:
        said = await ask(app, user.answer)
    assert said == 'accept: {"city":"Rome","unit":"celsius","days":3,"alone":false}'
    [question] = user.questions
    assert question.server == "asking"
    assert question.message == "Which trip to Rome?\u200b"
    fields = {field.name: field for field in question.fields}
    assert {name: field.kind for name, field in fields.items()} == {
        "city": "text",
        "unit": "choice",
        "days": "integer",
        "alone": "boolean",
    }
    assert [name for name, field in fields.items() if field.is_required] == ["city", "unit", "days"]
    assert fields["unit"].choices == (("celsius", "celsius"), ("fahrenheit", "fahrenheit"))
    assert fields["days"].schema == {"type": "integer", "minimum": 1, "maximum": 7}
    assert (fields["city"].label, fields["days"].description) == ("City", "How many days?")


@pytest.mark.parametrize("is_old", [False, True], ids=["new protocol", "old protocol"])
async def test_a_question_is_declined_where_no_one_can_be_asked(
    environ: dict[str, str], project: Path, tmp_path: Path, is_old: bool
) -> None:
    async with calling(environ, project, tmp_path, TRIP, is_old=is_old) as app:
        assert await ask(app) == "decline: -"


async def test_a_page_is_shown_and_never_opened(
    environ: dict[str, str], project: Path, tmp_path: Path
) -> None:
    user = User(ServerAnswer("accept"))
    call = Call("asking__visit_page", {}, "call-1")
    async with calling(environ, project, tmp_path, call, is_old=True) as app:
        assert await ask(app, user.answer) == "page: accept"
    [question] = user.questions
    assert (question.url, question.fields) == ("https://pay.example.org/4711", ())
    assert question.message == "Pay here"


async def test_a_server_gets_no_answer_from_the_users_model(
    environ: dict[str, str], project: Path, tmp_path: Path
) -> None:
    call = Call("asking__think", {}, "call-1")
    async with calling(environ, project, tmp_path, call, is_old=True) as app:
        assert await ask(app) == "refused: Sampling not supported"


async def test_the_time_of_a_call_stands_still_while_the_user_thinks(
    environ: dict[str, str], project: Path, tmp_path: Path
) -> None:
    waits = asyncio.Event()
    user = User(ServerAnswer("accept", VALUES), waits)
    limit = {"RAGFORGE_MCP__CALL_SECONDS": "5"}
    async with calling(environ, project, tmp_path, TRIP, is_old=True, **limit) as app:
        asked = asyncio.create_task(ask(app, user.answer))
        await user.was_asked.wait()
        [running] = app.servers._servers["asking"]._timers
        assert running.when() is None
        waits.set()
        assert (await asked).startswith("accept: ")


async def test_a_question_ends_with_its_turn(
    environ: dict[str, str], project: Path, tmp_path: Path
) -> None:
    user = User(ServerAnswer("accept", VALUES), asyncio.Event())
    async with calling(environ, project, tmp_path, TRIP, is_old=True) as app:
        asked = asyncio.create_task(ask(app, user.answer))
        await user.was_asked.wait()
        question = app.servers._servers["asking"]._question
        assert question is not None
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        await asyncio.wait([question])
        assert question.cancelled()
