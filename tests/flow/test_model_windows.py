"""A model with a small window gets a request that it can take, over real HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragforge import App, load_settings, open_app
from ragforge.domain.chat import CHARS_A_TOKEN, WindowShares
from ragforge.domain.schema import CONVERSATION
from tests.fakes.chat_server import ChatServer, Fails
from tests.fakes.http_server import Asked
from tests.fakes.wires import Call, OpenAiWire, Says

WINDOW = 4_096
SMALL_TOOLS = {"read_file", "edit_file", "write_file", "run_command", "search_code"}
OVERFLOW = (
    f"This model's maximum context length is {WINDOW} tokens. However, your messages resulted in "
    "9000 tokens. Please reduce the length of the messages."
)
QUESTION = "How is the price of an item computed?"
LONG = "def price(item):\n" + "    total = item.price * item.count  # the price of all\n" * 200


@pytest.fixture
def project(project: Path) -> Path:
    for number in range(8):
        (project / f"price_{number}.py").write_text(LONG.replace("price(", f"price_{number}("))
    return project


async def ask_about_prices(
    server: ChatServer, environ: dict[str, str], project: Path, by: str = "auto"
) -> App:
    environ = {
        **environ,
        "OPENAI_API_KEY": "sk-none",
        "RAGFORGE_LLM__MODEL": f"openai:{server.wire.model}",
        "RAGFORGE_LLM__BASE_URL": server.base_url,
        "RAGFORGE_AGENT__CONTEXT__PLAN_BY": "auto",
        "RAGFORGE_AGENT__MEMORY__WRITE_BY": by,
    }
    async with open_app(load_settings(project, environ=environ).settings, project) as app:
        await app.brain.ingest()
        answer = await app.ask(QUESTION)
        assert answer.content == "From its count."
        await app.jobs.wait(60)
        session = await app.store.records.get(CONVERSATION, answer.conversation_id)
        assert session.title == (QUESTION if by == "auto" else "Prices")
    return app


def count_tokens(asked: Asked) -> int:
    """Return how many tokens the model reads: its server writes messages without JSON."""
    texts = [json.dumps(asked.body["tools"])]
    for message in asked.body["messages"]:
        texts += [message.get("content") or "", json.dumps(message.get("tool_calls", ""))]
    return sum(map(len, texts)) // CHARS_A_TOKEN


def read_room(asked: Asked) -> int:
    """Return how many tokens the answer may have."""
    return int(asked.body.get("max_completion_tokens") or asked.body["max_tokens"])


def name_tools(asked: Asked) -> set[str]:
    return {tool["function"]["name"] for tool in asked.body["tools"]}


async def test_a_server_that_names_its_window_gets_a_small_context_and_few_tools(
    environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    async with ChatServer(OpenAiWire(), [Says("From its count.")], window=WINDOW) as server:
        app = await ask_about_prices(server, environ, project)
        [asked] = server.asked
    assert app.chat is not None
    assert app.chat.model.window == WINDOW
    assert count_tokens(asked) + read_room(asked) < WINDOW
    assert name_tools(asked) == SMALL_TOOLS
    system, question = (message["content"] for message in asked.body["messages"])
    assert len(system) < 1_000
    assert f"# Question\n\n{QUESTION}\n\n(If the code above has the answer" in question
    assert "    total = item.price * item.count" in question, "real lines of code"
    assert len(question) > (WindowShares.of(WINDOW).code or 0) // 2


async def test_what_tools_return_leaves_the_question_and_room_for_the_answer(
    environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    reads = [
        Says(calls=(Call("read_file", {"path": f"price_{one}.py"}, str(one)),)) for one in range(6)
    ]
    async with ChatServer(OpenAiWire(), [*reads, Says("From its count.")], window=WINDOW) as server:
        await ask_about_prices(server, environ, project)
    assert len(server.asked) == 7
    for asked in server.asked:
        assert count_tokens(asked) + read_room(asked) <= WINDOW
        assert QUESTION in asked.text
    assert "def price_5" in server.asked[-1].body["messages"][-1]["content"]


@pytest.mark.parametrize(("by", "requests"), [("auto", 1), ("model", 2)])
async def test_a_model_on_this_machine_gives_titles_only_if_the_settings_say_so(
    by: str,
    requests: int,
    environ: dict[str, str],
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    title = Says('{"title": "Prices"}')
    async with ChatServer(OpenAiWire(), [Says("From its count.")], aside=title) as server:
        app = await ask_about_prices(server, environ, project, by)
        assert len(server.asked) == requests
    assert app.meter.total.requests == requests, "what is shown as used has them all"


async def test_a_window_is_learned_from_the_refusal_and_kept_to_from_then_on(
    environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    script = [Fails(400, OVERFLOW), Says("From its count.")]
    async with ChatServer(OpenAiWire(), script) as server:
        app = await ask_about_prices(server, environ, project)
        refused, accepted = server.asked_in_turns
    assert app.chat is not None
    assert app.chat.model.window == WINDOW
    assert "delegate" in name_tools(refused)
    assert len(accepted.body["messages"][-1]["content"]) < WINDOW * CHARS_A_TOKEN
    assert "How is the price" in accepted.text
