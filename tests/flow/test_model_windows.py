"""A model with a small window gets a request that it can take, over real HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragforge import App, load_settings, open_app
from ragforge.domain.windows import CHARS_A_TOKEN
from tests.fakes.chat_server import ChatServer, Fails
from tests.fakes.http_server import Asked
from tests.fakes.wires import OpenAiWire, Says

WINDOW = 4_096
OVERFLOW = (
    f"This model's maximum context length is {WINDOW} tokens. However, your messages resulted in "
    "9000 tokens. Please reduce the length of the messages."
)
LONG = "def price(item):\n" + "    total = item.price * item.count  # the price of all\n" * 200


@pytest.fixture
def project(project: Path) -> Path:
    for number in range(8):
        (project / f"price_{number}.py").write_text(LONG.replace("price(", f"price_{number}("))
    return project


async def ask_about_prices(server: ChatServer, environ: dict[str, str], project: Path) -> App:
    environ = {
        **environ,
        "OPENAI_API_KEY": "sk-none",
        "RAGFORGE_LLM__MODEL": f"openai:{server.wire.model}",
        "RAGFORGE_LLM__BASE_URL": server.base_url,
        "RAGFORGE_AGENT__CONTEXT__PLAN_BY": "rules",
    }
    async with open_app(load_settings(project, environ=environ).settings, project) as app:
        await app.brain.ingest()
        answer = await app.ask("How is the price of an item computed?")
        assert answer.content == "From its count."
    return app


def count_tokens(asked: Asked) -> int:
    return len(json.dumps(asked.body, ensure_ascii=False)) // CHARS_A_TOKEN


def name_tools(asked: Asked) -> set[str]:
    return {tool["function"]["name"] for tool in asked.body["tools"]}


async def test_a_server_that_names_its_window_gets_a_small_context_and_few_tools(
    environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    async with ChatServer(OpenAiWire(), [Says("From its count.")], window=WINDOW) as server:
        app = await ask_about_prices(server, environ, project)
        [asked] = server.asked_in_turns
    assert app.chat is not None
    assert app.chat.model.window == WINDOW
    assert count_tokens(asked) < WINDOW
    assert "price_" in asked.text
    assert {"read_file", "grep_files", "edit_file"} <= name_tools(asked)
    assert "delegate" not in name_tools(asked)


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
