"""How large a model's window is: known, or asked of a server on this machine."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from ragforge.adapters.models.failures import find_window
from ragforge.adapters.models.known_models import ask_window, find_known_window, is_on_this_machine
from tests.fakes.http_server import Answered, Asked, HttpServer

SERVERS: dict[str, tuple[str, Any]] = {
    "vllm": ("/v1/models", {"data": [{"id": "qwen3", "max_model_len": 4096}]}),
    "llama.cpp": ("/props", {"default_generation_settings": {"n_ctx": 4096}}),
    "llama.cpp behind a proxy": (
        "/v1/models",
        {"data": [{"id": "qwen3", "meta": {"n_ctx": 4096}}]},
    ),
    "ollama": ("/api/ps", {"models": [{"model": "qwen3:latest", "context_length": 4096}]}),
    "lm studio": ("/api/v0/models/qwen3", {"id": "qwen3", "loaded_context_length": 4096}),
}


@pytest.mark.parametrize("kind", SERVERS)
async def test_each_kind_of_server_is_understood(kind: str) -> None:
    path, body = SERVERS[kind]

    def answer(asked: Asked) -> Answered:
        if asked.path == path:
            return Answered(chunks=(json.dumps(body).encode(),))
        return Answered(chunks=(b'{"data": [], "models": "no"}',))

    async with HttpServer(answer) as server, httpx2.AsyncClient() as http:
        assert await ask_window(http, f"{server.url}/v1", "qwen3") == 4096
        assert await ask_window(http, f"{server.url}/v1", "other") == (
            4096 if kind in ("llama.cpp",) else None
        )


async def test_a_server_that_is_not_there_says_nothing() -> None:
    async with httpx2.AsyncClient() as http:
        assert await ask_window(http, "http://127.0.0.1:9/v1", "qwen3") is None


def test_a_providers_model_is_known_by_name() -> None:
    assert find_known_window("openai", "gpt-4o-mini") == 128_000
    assert find_known_window("openai", "no-such-model") is None
    assert find_known_window("no-such-provider", "gpt-4o-mini") is None


@pytest.mark.parametrize(
    ("url", "is_here"),
    [
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.1:1234/v1", True),
        ("https://api.openai.com/v1", False),
        ("http://localhost.example.org/v1", False),
        (None, False),
    ],
)
def test_only_servers_on_this_machine_are_asked(url: str | None, is_here: bool) -> None:
    assert is_on_this_machine(url) is is_here


@pytest.mark.parametrize(
    ("said", "window"),
    [
        ("This model's maximum context length is 4096 tokens. However, you requested 5000", 4096),
        ("prompt is too long: 210000 tokens > 200000 maximum", 200_000),
        (
            "The input token count exceeds the maximum number of tokens allowed (1048576).",
            2**20,
        ),
        ("the request exceeds the available context size (8192 tokens), try increasing it", 8192),
        ("However, the model is loaded with context length of only 2048 tokens", 2048),
        ("too long", None),
        ("context size: 12", None),
    ],
)
def test_the_window_is_read_from_a_refusal(said: str, window: int | None) -> None:
    assert find_window(said) == window
