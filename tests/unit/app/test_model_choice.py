"""Which models can be chosen here, and whether the chosen one answers, over real HTTP."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ragforge.app.features.model_choice import find_models, try_model
from ragforge.app.wiring.models import open_chat_model
from ragforge.config import Settings
from ragforge.config.services import SERVICES
from ragforge.errors import InputError, KeyRejected, ModelUnreachable
from tests.fakes.chat_server import ChatServer, Fails
from tests.fakes.http_server import Answered, Asked, HttpServer
from tests.fakes.wires import OpenAiWire, Says

SETTINGS = Settings.model_validate({})
NOWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """No server runs on this machine, and there is no key."""
    for name, service in SERVICES.items():
        for variable in service.variables:
            monkeypatch.delenv(variable, raising=False)
        if service.is_local:
            monkeypatch.setitem(SERVICES, name, replace(service, base_url=NOWHERE))


def list_two(asked: Asked) -> Answered:
    models = {"data": [{"id": "qwen3:8b"}, {"id": "odd name"}, {"id": "llama3"}]}
    return Answered(chunks=(json.dumps(models).encode(),))


async def test_a_server_on_this_machine_is_offered_with_its_models(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with HttpServer(list_two) as server:
        place = replace(SERVICES["ollama"], base_url=f"{server.url}/v1")
        monkeypatch.setitem(SERVICES, "ollama", place)
        found = {one.service: one for one in await find_models()}
    assert [asked.path for asked in server.asked] == ["/v1/models"]
    assert found["ollama"].models == ("ollama:qwen3:8b", "ollama:llama3")
    assert not found["lmstudio"].is_ready
    assert not found["openai"].is_ready


async def test_a_key_makes_a_service_ready_and_nothing_is_sent_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    found = {one.service: one for one in await find_models()}
    assert found["anthropic"].is_ready
    assert found["anthropic"].models[0].startswith("anthropic:")


@pytest.mark.parametrize("body", [b"no json", b"[]", b'{"data": [7]}'])
async def test_another_program_that_listens_is_not_a_model_server(
    monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    async with HttpServer(lambda _: Answered(chunks=(body,))) as server:
        place = replace(SERVICES["vllm"], base_url=f"{server.url}/v1")
        monkeypatch.setitem(SERVICES, "vllm", place)
        found = {one.service: one for one in await find_models()}
    assert not found["vllm"].is_ready


async def test_a_model_of_a_local_server_needs_no_key_and_keeps_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-ollama")
    async with ChatServer(OpenAiWire(), [Says("ready")]) as server:
        place = replace(SERVICES["ollama"], base_url=server.base_url)
        monkeypatch.setitem(SERVICES, "ollama", place)
        test = await try_model(SETTINGS, "ollama:qwen3")
    assert (test.model, test.said) == ("ollama:qwen3", "ready")
    [asked] = server.asked
    assert asked.body["model"] == "qwen3"
    assert "sk-not-for-ollama" not in str(asked.headers)


async def test_a_model_that_does_not_answer_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "gsk-wrong")
    async with ChatServer(OpenAiWire(), [Fails(401, "bad key")]) as server:
        place = replace(SERVICES["groq"], base_url=server.base_url)
        monkeypatch.setitem(SERVICES, "groq", place)
        with pytest.raises(KeyRejected, match="GROQ_API_KEY"):
            await try_model(SETTINGS, "groq:llama")
    with pytest.raises(ModelUnreachable, match=r"127\.0\.0\.1:9 cannot be reached: .*failed\."):
        await try_model(SETTINGS, "ollama:qwen3")
    with pytest.raises(InputError, match="is not a model"):
        await try_model(SETTINGS, "qwen3")


def test_a_service_without_its_key_names_the_variable() -> None:
    llm = Settings.model_validate({"llm": {"model": "openrouter:a/b"}}).llm
    with pytest.raises(KeyRejected, match="OPENROUTER_API_KEY"):
        open_chat_model(llm)
