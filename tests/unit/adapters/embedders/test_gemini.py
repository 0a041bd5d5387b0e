"""Gemini's dialect: what is asked, what is believed, and its own kinds of failure."""

from __future__ import annotations

import json
import traceback
from collections.abc import AsyncIterator
from typing import Any

import pytest

from ragforge.adapters.embedders.http import GeminiEmbeddings
from ragforge.errors import BadAnswer, KeyRejected, ModelBusy, ModelUnavailable, RequestRefused
from tests.fakes.embedding_server import (
    EmbeddingServer,
    Step,
    error,
    one_missing,
    vector_of,
    with_first,
)

KEY = "AIza-very-secret-0123456789"


@pytest.fixture
async def server() -> AsyncIterator[EmbeddingServer]:
    async with EmbeddingServer(size=3_072) as server:
        yield server


@pytest.fixture
async def service(server: EmbeddingServer) -> AsyncIterator[GeminiEmbeddings]:
    service = GeminiEmbeddings(KEY, base_url=server.url, timeout_seconds=5)
    yield service
    await service.close()


async def test_a_request_holds_one_request_a_text(
    server: EmbeddingServer, service: GeminiEmbeddings
) -> None:
    answer = await service.request(["one", "two"], "document")

    [asked] = server.requests
    assert asked.path == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert asked.body == {
        "requests": [
            {
                "model": "models/gemini-embedding-001",
                "content": {"parts": [{"text": text}]},
                "taskType": "RETRIEVAL_DOCUMENT",
            }
            for text in ("one", "two")
        ]
    }
    assert answer.vectors == [vector_of("one", 3_072), vector_of("two", 3_072)]
    assert answer.tokens == 0


async def test_the_key_travels_in_a_header_and_not_in_the_address(
    server: EmbeddingServer, service: GeminiEmbeddings
) -> None:
    await service.request(["one"], "document")

    assert server.requests[0].headers["x-goog-api-key"] == KEY
    assert KEY not in server.requests[0].path
    assert "authorization" not in server.requests[0].headers


async def test_a_query_is_embedded_as_one(
    server: EmbeddingServer, service: GeminiEmbeddings
) -> None:
    await service.request(["one"], "query")

    assert server.requests[0].body["requests"][0]["taskType"] == "RETRIEVAL_QUERY"


async def test_fewer_dimensions_are_asked_for_in_each_request(server: EmbeddingServer) -> None:
    service = GeminiEmbeddings(KEY, base_url=server.url, dimension=768)
    answer = await service.request(["one", "two"], "document")
    await service.close()

    asked = server.requests[0].body["requests"]
    assert [request["outputDimensionality"] for request in asked] == [768, 768]
    assert [len(vector) for vector in answer.vectors] == [768, 768]
    assert service.name == f"{server.host}/gemini-embedding-001@768"


async def test_tokens_are_reported_where_they_are_counted(
    server: EmbeddingServer, service: GeminiEmbeddings
) -> None:
    item = {"values": vector_of("one", 3_072)}
    usage = {"promptTokenCount": 5}
    server.steps = [Step(body=json.dumps({"embeddings": [item], "usageMetadata": usage}))]

    assert (await service.request(["one"], "document")).tokens == 5


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        (Step(spoil=one_missing), "1 embeddings for 2 texts"),
        (Step(spoil=with_first([float("nan")] * 3_072)), "not a list of finite numbers"),
        (Step(spoil=with_first([])), "not a list of finite numbers"),
        (Step(spoil=lambda items: [{}, {}]), "not a list of finite numbers"),
        (Step(spoil=with_first([1.0] * 768)), "768 dimensions, not of 3072"),
        (Step(body="{}"), "without a list of embeddings"),
        (Step(body='{"embeddings": ['), "not JSON"),
    ],
)
async def test_an_answer_that_cannot_be_used_is_a_bad_answer(
    server: EmbeddingServer, service: GeminiEmbeddings, step: Step, sentence: str
) -> None:
    server.steps = [step]

    with pytest.raises(BadAnswer, match=sentence):
        await service.request(["one", "two"], "document")


def google_error(status: int, message: str, *details: dict[str, Any]) -> Step:
    said = {"error": {"code": status, "message": message, "details": list(details)}}
    return Step(status, json.dumps(said))


async def test_a_bad_key_is_distinguished_from_a_bad_request(
    server: EmbeddingServer, service: GeminiEmbeddings
) -> None:
    kind = "type.googleapis.com/google.rpc.ErrorInfo"
    server.steps = [
        google_error(400, f"API key {KEY} not valid.", {"@type": kind, "reason": "API_KEY_INVALID"})
    ]

    with pytest.raises(KeyRejected, match="GEMINI_API_KEY") as caught:
        await service.request(["one"], "document")

    assert KEY not in "".join(traceback.format_exception(caught.value))


async def test_a_forbidden_request_says_why(
    server: EmbeddingServer, service: GeminiEmbeddings
) -> None:
    server.steps = [google_error(403, f"The API is off for {KEY}")]

    with pytest.raises(KeyRejected, match=r"The API is off for \*\*\*.*GEMINI_API_KEY"):
        await service.request(["one"], "document")


@pytest.mark.parametrize(
    ("delay", "seconds"), [("34s", 34.0), ("0.25s", 0.25), ("soon", None), (7, None)]
)
async def test_a_busy_provider_says_in_its_details_how_long_to_wait(
    server: EmbeddingServer, service: GeminiEmbeddings, delay: object, seconds: float | None
) -> None:
    kind = "type.googleapis.com/google.rpc."
    server.steps = [
        google_error(
            429,
            "You exceeded your current quota",
            {"@type": kind + "Help", "links": []},
            {"@type": kind + "RetryInfo", "retryDelay": delay},
        )
    ]

    with pytest.raises(ModelBusy, match="current quota") as caught:
        await service.request(["one"], "document")

    assert caught.value.retry_after == seconds


async def test_refusals_and_failures_are_told_apart(
    server: EmbeddingServer, service: GeminiEmbeddings
) -> None:
    server.steps = [error(404, "models/x is not found"), error(500, "oops"), Step(cut_after=40)]

    with pytest.raises(RequestRefused, match="is not found"):
        await service.request(["one"], "document")
    with pytest.raises(ModelUnavailable, match="HTTP 500"):
        await service.request(["one"], "document")
    with pytest.raises(ModelUnavailable, match=server.host):
        await service.request(["one"], "document")


def test_what_is_known_of_the_model() -> None:
    service = GeminiEmbeddings(KEY, "models/gemini-embedding-001", max_texts=1_000)
    other = GeminiEmbeddings(KEY, "another/../model")

    assert service.name == "gemini/gemini-embedding-001@3072"
    assert (service.dimension, service.usd_per_million_tokens) == (3_072, 0.15)
    assert (service.max_texts, service.max_chars) == (100, 6_144)
    assert (service.history_threshold, service.code_threshold) == (0.7, 0.3)
    assert (other.dimension, other.usd_per_million_tokens) == (None, None)


async def test_a_model_s_name_cannot_change_the_address(server: EmbeddingServer) -> None:
    service = GeminiEmbeddings(KEY, "a/../b?c#d", base_url=server.url)
    await service.request(["one"], "document")
    await service.close()

    path = server.requests[0].path
    assert path == "/v1beta/models/a%2F..%2Fb%3Fc%23d:batchEmbedContents"
