"""OpenAI's dialect: what is asked, what is believed, and what each failure becomes."""

from __future__ import annotations

import json
import traceback
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from ragforge.adapters.embedders.http import OpenAiEmbeddings
from ragforge.errors import (
    BadAnswer,
    KeyRejected,
    ModelBusy,
    ModelError,
    ModelMissing,
    ModelUnavailable,
    RequestRefused,
    SettingsError,
)
from tests.fakes.embedding_server import (
    EmbeddingServer,
    Step,
    error,
    one_missing,
    one_twice,
    shuffled,
    vector_of,
    with_first,
)

KEY = "sk-very-secret-0123456789"


@pytest.fixture
async def server() -> AsyncIterator[EmbeddingServer]:
    async with EmbeddingServer() as server:
        yield server


@pytest.fixture
async def service(server: EmbeddingServer) -> AsyncIterator[OpenAiEmbeddings]:
    service = OpenAiEmbeddings("some-model", KEY, base_url=server.url + "/v1/", timeout_seconds=5)
    yield service
    await service.close()


async def test_a_request_asks_for_all_texts_at_once(
    server: EmbeddingServer, service: OpenAiEmbeddings
) -> None:
    answer = await service.request(["one", "two"], "document")

    [asked] = server.requests
    assert asked.path == "/v1/embeddings"
    assert asked.body == {
        "model": "some-model",
        "input": ["one", "two"],
        "encoding_format": "float",
    }
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert answer.vectors == [vector_of("one", 8), vector_of("two", 8)]
    assert answer.tokens == 6


async def test_one_connection_serves_many_requests(
    server: EmbeddingServer, service: OpenAiEmbeddings
) -> None:
    for _ in range(3):
        await service.request(["one"], "query")

    assert len(server.connections) == 1


async def test_without_a_key_none_is_sent(server: EmbeddingServer) -> None:
    service = OpenAiEmbeddings("some-model", "", base_url=server.url)
    await service.request(["one"], "document")
    await service.close()

    assert "authorization" not in server.requests[0].headers


async def test_a_dimension_is_asked_for_only_where_it_is_configured(
    server: EmbeddingServer,
) -> None:
    service = OpenAiEmbeddings("some-model", dimension=4, base_url=server.url)
    answer = await service.request(["one"], "document")
    await service.close()

    assert server.requests[0].body["dimensions"] == 4
    assert answer.vectors == [vector_of("one", 4)]


async def test_the_index_decides_whose_a_vector_is(
    server: EmbeddingServer, service: OpenAiEmbeddings
) -> None:
    server.steps = [Step(spoil=shuffled)]

    answer = await service.request(["one", "two", "three"], "document")

    assert answer.vectors == [vector_of(text, 8) for text in ("one", "two", "three")]


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        (Step(spoil=one_missing), "1 embeddings for 2 texts"),
        (Step(spoil=one_twice), "indices are not 0 to 1"),
        (Step(spoil=lambda items: [{}, *items[1:]]), "indices"),
        (Step(spoil=lambda items: [items[0] | {"index": True}, items[0]]), "indices"),
        (Step(spoil=lambda items: [items[0] | {"index": 7}, items[1]]), "indices"),
        (Step(spoil=with_first([1.0, float("nan")])), "not a list of finite numbers"),
        (Step(spoil=with_first([1.0, float("inf")])), "not a list of finite numbers"),
        (Step(spoil=with_first([1, 10**400])), "not a list of finite numbers"),
        (Step(spoil=with_first(["1.0", "2.0"])), "not a list of finite numbers"),
        (Step(spoil=with_first([])), "not a list of finite numbers"),
        (Step(spoil=with_first(None)), "not a list of finite numbers"),
        (Step(spoil=with_first("AAAA")), "not a list of finite numbers"),
        (Step(spoil=with_first([1.0, 2.0])), "of 8 dimensions, not of 2"),
        (Step(body='{"data": [{"ind'), "not JSON"),
        (Step(body=""), "not JSON"),
        (Step(body="[" * 100_000), "not JSON"),
        (Step(body="\x00\x01"), "not JSON"),
        (Step(body="[]"), "without a list of embeddings"),
        (Step(body='{"data": {}}'), "without a list of embeddings"),
        (Step(headers={"Content-Encoding": "gzip"}), "cannot be unpacked"),
    ],
)
async def test_an_answer_that_cannot_be_used_is_a_bad_answer(
    server: EmbeddingServer, service: OpenAiEmbeddings, step: Step, sentence: str
) -> None:
    server.steps = [step]

    with pytest.raises(BadAnswer, match=sentence) as caught:
        await service.request(["one", "two"], "document")

    assert server.host in str(caught.value)


async def test_vectors_of_a_known_model_must_have_its_dimension(server: EmbeddingServer) -> None:
    service = OpenAiEmbeddings("text-embedding-3-small", base_url=server.url)

    with pytest.raises(BadAnswer, match="8 dimensions, not of 1536"):
        await service.request(["one"], "document")
    await service.close()


@pytest.mark.parametrize("status", [401, 403])
async def test_a_rejected_key_is_not_shown_but_its_place_is(
    server: EmbeddingServer, service: OpenAiEmbeddings, status: int
) -> None:
    server.steps = [error(status, f"Incorrect API key provided: {KEY}.")]

    with pytest.raises(KeyRejected, match="OPENAI_API_KEY") as caught:
        await service.request(["one"], "document")

    assert KEY not in everything_told(caught.value)


async def test_a_key_that_is_wanted_is_asked_for(server: EmbeddingServer) -> None:
    server.steps = [error(401, "You didn't provide an API key")]
    service = OpenAiEmbeddings("some-model", base_url=server.url, key_place="embeddings.key")

    with pytest.raises(KeyRejected, match=r"wants a key\. Set embeddings\.key\."):
        await service.request(["one"], "document")
    await service.close()


@pytest.mark.parametrize("key", ["sk-sécret-0123456789", "sk-secret\nX-Evil: 1", "sk-\ud83d-x"])
async def test_a_key_that_no_header_can_carry_is_not_shown(
    server: EmbeddingServer, key: str
) -> None:
    service = OpenAiEmbeddings("some-model", key, base_url=server.url)

    with pytest.raises(KeyRejected, match="contains invalid characters") as caught:
        await service.request(["one"], "document")

    assert key not in everything_told(caught.value)
    assert not server.requests


async def test_spaces_around_a_key_do_no_harm(server: EmbeddingServer) -> None:
    service = OpenAiEmbeddings("some-model", f" {KEY}\n", base_url=server.url)
    await service.request(["one"], "document")
    await service.close()

    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("status", [301, 400, 404, 413, 422])
async def test_a_refusal_carries_the_provider_s_words(
    server: EmbeddingServer, service: OpenAiEmbeddings, status: int
) -> None:
    server.steps = [error(status, f"the model\x1b[31m of {KEY}\nis not here " + "x" * 1_000)]

    with pytest.raises(
        RequestRefused, match=rf"HTTP {status}: the model \[31m of \*\*\*"
    ) as caught:
        await service.request(["one"], "document")

    assert len(str(caught.value)) < 400
    assert KEY not in everything_told(caught.value)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('{"error": "model not found, try pulling it"}', ": model not found"),
        ('{"detail": [{"loc": ["input"], "msg": "too long"}]}', ": too long"),
        ('{"object": "error", "message": "too many tokens"}', ": too many tokens"),
        ("404 page not found", ": 404 page not found"),
        ("<html><body>nginx</body></html>", "HTTP 404$"),
        ('{"error": 7}', "HTTP 404$"),
        ('{"error": {"details": 7}}', "HTTP 404$"),
        ("[]", "HTTP 404$"),
    ],
)
async def test_errors_have_many_shapes(
    server: EmbeddingServer, service: OpenAiEmbeddings, body: str, words: str
) -> None:
    server.steps = [Step(404, body)]

    with pytest.raises(RequestRefused, match=words):
        await service.request(["one"], "document")


@pytest.mark.parametrize(
    ("given", "minimum", "maximum"),
    [
        ("7", 7, 7),
        ("0.5", 0.5, 0.5),
        ("-3", 0, 0),
        ("IN AN HOUR", 3_000, 3_600),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0),
        ("Wed, 21 Oct 2015 07:28:00 -0000", 0, 0),
    ],
    ids=["seconds", "part of a second", "past seconds", "in an hour", "past date", "past, no zone"],
)
async def test_a_busy_provider_says_how_long_to_wait(
    server: EmbeddingServer, service: OpenAiEmbeddings, given: str, minimum: float, maximum: float
) -> None:
    in_an_hour = format_datetime(datetime.now(UTC) + timedelta(seconds=3_600))
    waiting = given.replace("IN AN HOUR", in_an_hour)
    server.steps = [error(429, "slow down", Retry_After=waiting)]

    with pytest.raises(ModelBusy, match="slow down") as caught:
        await service.request(["one"], "document")

    assert caught.value.retry_after is not None
    assert minimum <= caught.value.retry_after <= maximum


@pytest.mark.parametrize("headers", [{}, {"Retry_After": "soon"}, {"Retry_After": "nan"}])
async def test_a_busy_provider_may_say_nothing_useful(
    server: EmbeddingServer, service: OpenAiEmbeddings, headers: dict[str, str]
) -> None:
    server.steps = [error(429, "slow down", **headers)]

    with pytest.raises(ModelBusy) as caught:
        await service.request(["one"], "document")

    assert caught.value.retry_after is None


async def test_an_overloaded_provider_that_names_its_time_is_busy(
    server: EmbeddingServer, service: OpenAiEmbeddings
) -> None:
    server.steps = [error(503, "loading", Retry_After="2")]

    with pytest.raises(ModelBusy) as caught:
        await service.request(["one"], "document")

    assert caught.value.retry_after == 2


@pytest.mark.parametrize(
    "step",
    [
        error(500, "oops"),
        error(503, "oops"),
        error(408, "oops"),
        Step(502, "<html>bad gateway</html>"),
        Step(cut_after=0),
        Step(cut_after=20),
        Step(cut_after=150),
    ],
)
async def test_a_failing_provider_is_unavailable(
    server: EmbeddingServer, service: OpenAiEmbeddings, step: Step
) -> None:
    server.steps = [step]

    with pytest.raises(ModelUnavailable, match=server.host) as caught:
        await service.request(["one"], "document")

    assert not isinstance(caught.value, ModelBusy)
    assert KEY not in everything_told(caught.value)


async def test_a_provider_that_does_not_answer_is_unavailable(server: EmbeddingServer) -> None:
    server.steps = [Step(delay=30)]
    service = OpenAiEmbeddings("some-model", base_url=server.url, timeout_seconds=0.1)

    with pytest.raises(ModelUnavailable, match=r"did not answer within 0\.1 seconds"):
        await service.request(["one"], "document")
    await service.close()


async def test_a_provider_that_is_not_there_is_unavailable() -> None:
    async with EmbeddingServer() as gone:
        url = gone.url
    service = OpenAiEmbeddings("some-model", KEY, base_url=url)

    with pytest.raises(ModelUnavailable, match="cannot be reached") as caught:
        await service.request(["one"], "document")
    await service.close()

    assert KEY not in everything_told(caught.value)


async def test_a_service_can_be_used_again_after_a_failure_and_after_closing(
    server: EmbeddingServer, service: OpenAiEmbeddings
) -> None:
    server.steps = [Step(cut_after=30)]
    with pytest.raises(ModelUnavailable):
        await service.request(["one"], "document")
    await service.request(["one"], "document")

    await service.close()

    assert len((await service.request(["one"], "document")).vectors) == 1


async def test_an_environment_that_allows_no_connection_is_reported(
    service: OpenAiEmbeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "gopher://proxy.test")

    with pytest.raises(ModelMissing, match="can be set up"):
        await service.request(["one"], "document")


async def test_text_that_is_not_unicode_is_sent_with_a_replacement(
    server: EmbeddingServer, service: OpenAiEmbeddings
) -> None:
    await service.request(["half \ud83d", "NUL \x00 ünïcödé"], "document")

    assert server.requests[0].texts == ["half ?", "NUL \x00 ünïcödé"]


@pytest.mark.parametrize(
    "url", ["", "localhost:11434", "ftp://host", "http://", "http://a:b", "/v1"]
)
def test_a_base_url_must_be_an_address(url: str) -> None:
    with pytest.raises(SettingsError, match=r"embeddings\.base_url"):
        OpenAiEmbeddings("some-model", base_url=url)


def test_a_name_tells_the_provider_the_model_and_the_dimension() -> None:
    def name(model: str, **options: object) -> str:
        return OpenAiEmbeddings(model, **options).name  # type: ignore[arg-type]

    assert name("text-embedding-3-small") == "openai/text-embedding-3-small@1536"
    assert name("text-embedding-3-large", dimension=256) == "openai/text-embedding-3-large@256"
    assert name("new-model") == "openai/new-model"
    local = "http://user:password@LocalHost:11434/v1"
    assert name("nomic-embed-text", base_url=local) == "localhost:11434/nomic-embed-text"


def test_what_is_known_of_models() -> None:
    small = OpenAiEmbeddings("text-embedding-3-small")
    other = OpenAiEmbeddings("nomic-embed-text", max_tokens=2_048, max_texts=16)

    assert (small.dimension, small.usd_per_million_tokens) == (1_536, 0.02)
    assert small.max_chars == 24_573
    assert small.max_texts == 256
    assert (other.dimension, other.usd_per_million_tokens) == (None, None)
    assert other.max_chars == 6_144
    assert other.max_texts == 16


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": "7"}, {"prompt_tokens": -7}, 7])
async def test_tokens_that_are_not_counted_are_none(
    server: EmbeddingServer, service: OpenAiEmbeddings, usage: object
) -> None:
    item = {"index": 0, "embedding": [1.0]}
    server.steps = [Step(body=json.dumps({"data": [item], "usage": usage}))]

    assert (await service.request(["one"], "document")).tokens == 0


def everything_told(failure: ModelError) -> str:
    """Return every text of an error and of all that led to it."""
    told = "".join(traceback.format_exception(failure))
    link: BaseException | None = failure
    while link is not None:
        told += f"{link} {link!r} {link.args!r}"
        link = link.__cause__ or link.__context__
    return told
