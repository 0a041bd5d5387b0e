"""The remote embedder: many texts over a service that takes few, fails, and costs."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragforge.adapters.embedders.http import OpenAiEmbeddings
from ragforge.domain.vectors import MeaningWeights, Vector
from ragforge.errors import (
    BadAnswer,
    KeyRejected,
    ModelBusy,
    ModelUnavailable,
    RequestRefused,
    SpendCapReached,
)
from ragforge.llm.ask import Meter, RetryPolicy
from ragforge.llm.embedding import BATCH_CHARS, RemoteEmbedder
from ragforge.ports.models import Embedded, Purpose
from tests.fakes.embedding_server import (
    EmbeddingServer,
    Step,
    direction_of,
    error,
    one_missing,
    vector_of,
)

SIZE = 8


class Service:
    """An embedding service in this process, that fails as configured."""

    name = "fake/model"
    max_texts = 4
    max_chars = 50
    history_threshold = 0.7
    code_threshold = 0.3
    weights = MeaningWeights()
    multilingual = True

    def __init__(self, price: float | None = 2.0, tokens: int = 10) -> None:
        self.dimension: int | None = None
        self.usd_per_million_tokens = price
        self.tokens = tokens
        self.asked: list[list[str]] = []
        self.purposes: list[Purpose] = []
        self.failures: list[Exception] = []
        self.refuses: Callable[[str], bool] = lambda text: False
        self.answer: Callable[[str], list[float]] = lambda text: vector_of(text, SIZE)
        self.closed = False

    async def request(self, texts: Sequence[str], purpose: Purpose) -> Embedded:
        assert 0 < len(texts) <= self.max_texts
        self.asked.append(list(texts))
        self.purposes.append(purpose)
        await asyncio.sleep(0)
        if self.failures:
            raise self.failures.pop(0)
        if any(map(self.refuses, texts)):
            raise RequestRefused("a text is refused")
        return Embedded([self.answer(text) for text in texts], self.tokens)

    async def close(self) -> None:
        self.closed = True


class Pauses:
    """A sleep that takes no time and remembers how long it was."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def embedder_of(
    service: Service, meter: Meter | None = None, concurrency: int = 4
) -> RemoteEmbedder:
    return RemoteEmbedder(service, meter or Meter(), concurrency=concurrency, sleep=Pauses())


def is_vector_of(vector: Vector | None, text: str, size: int = SIZE) -> bool:
    return vector is not None and vector.values() == pytest.approx(
        direction_of(text, size), abs=1e-6
    )


async def test_each_text_has_its_own_vector() -> None:
    service = Service()
    texts = [f"text {number}" for number in range(10)]

    vectors = await embedder_of(service).embed(texts)

    assert all(map(is_vector_of, vectors, texts))
    assert sorted(map(len, service.asked)) == [2, 4, 4]
    assert {vector.model for vector in vectors if vector} == {"fake/model"}


async def test_blank_texts_leave_a_hole_and_are_not_asked_about() -> None:
    service = Service()

    vectors = await embedder_of(service).embed(["", "one", " \n\t", "two", "\u00a0"])

    assert [vector is not None for vector in vectors] == [False, True, False, True, False]
    assert is_vector_of(vectors[1], "one")
    assert is_vector_of(vectors[3], "two")
    assert service.asked == [["one", "two"]]


@pytest.mark.parametrize("texts", [[], [""], ["", " "]])
async def test_nothing_to_embed_needs_no_request(texts: list[str]) -> None:
    service = Service()

    assert await embedder_of(service).embed(texts) == [None] * len(texts)
    assert service.asked == []


async def test_long_texts_are_cut() -> None:
    service = Service()

    [vector] = await embedder_of(service).embed(["x" * 60])

    assert service.asked == [["x" * 50]]
    assert is_vector_of(vector, "x" * 50)


async def test_a_request_holds_no_more_characters_than_providers_take() -> None:
    service = Service()
    service.max_chars = BATCH_CHARS // 2
    texts = [letter * service.max_chars for letter in "abcde"]

    vectors = await embedder_of(service).embed(texts)

    assert sorted(map(len, service.asked)) == [1, 2, 2]
    assert all(map(is_vector_of, vectors, texts))


async def test_the_purpose_is_sent() -> None:
    service = Service()
    embedder = embedder_of(service)

    await embedder.embed(["a"])
    await embedder.embed_query("a")

    assert service.purposes == ["document", "query"]


async def test_a_blank_query_has_no_vector() -> None:
    assert await embedder_of(Service()).embed_query("  ") is None


async def test_the_dimension_is_unknown_until_an_answer_tells_it() -> None:
    service = Service()
    embedder = embedder_of(service)
    assert embedder.dimension == 0

    await embedder.embed_query("hello")

    assert embedder.dimension == SIZE


async def test_failures_that_pass_are_waited_for() -> None:
    service = Service()
    service.failures = [ModelBusy("busy", 3.0), ModelUnavailable("down")]
    pauses = Pauses()

    [vector] = await RemoteEmbedder(service, Meter(), sleep=pauses).embed(["one"])

    assert is_vector_of(vector, "one")
    assert pauses.seconds[0] == 3.0
    assert len(pauses.seconds) == 2


async def test_patience_ends() -> None:
    service = Service()
    service.failures = [ModelUnavailable("down")] * 9

    with pytest.raises(ModelUnavailable, match="down"):
        await RemoteEmbedder(service, Meter(), RetryPolicy(attempts=3), sleep=Pauses()).embed(
            ["one"]
        )

    assert len(service.asked) == 3


async def test_a_rejected_key_is_reported_at_once() -> None:
    service = Service()
    cause = ValueError("why")
    failure = KeyRejected("no")
    failure.__cause__ = cause
    service.failures = [failure]

    with pytest.raises(KeyRejected) as caught:
        await embedder_of(service, concurrency=1).embed(["text"] * 10)

    assert len(service.asked) == 1
    assert caught.value.__cause__ is cause


async def test_only_the_refused_text_fails() -> None:
    service = Service()
    service.refuses = lambda text: "bad" in text
    texts = ["one", "bad", "two", "three", "four", "bad too", "five"]

    vectors = await embedder_of(service).embed(texts)

    for text, vector in zip(texts, vectors, strict=True):
        assert vector is None if "bad" in text else is_vector_of(vector, text)


async def test_a_lone_refused_text_has_no_vector() -> None:
    service = Service()
    service.refuses = lambda text: "bad" in text

    assert await embedder_of(service).embed_query("bad") is None
    assert await embedder_of(service).embed(["bad", "bad"]) == [None, None]


async def test_a_service_that_refuses_everything_is_not_asked_about_each_text() -> None:
    service = Service()
    service.refuses = lambda text: True

    with pytest.raises(RequestRefused):
        await embedder_of(service, concurrency=1).embed([f"text {n}" for n in range(100)])

    assert len(service.asked) == 2


async def test_a_refused_text_that_is_long_is_tried_shorter() -> None:
    service = Service()
    service.max_chars = 10_000
    service.refuses = lambda text: len(text) > 3_000

    long, short = await embedder_of(service).embed(["字" * 10_000, "short"])

    assert is_vector_of(long, "字" * 2_500)
    assert is_vector_of(short, "short")


async def test_a_bad_answer_is_asked_for_once_more() -> None:
    service = Service()
    service.failures = [BadAnswer("garbled")]

    [vector] = await embedder_of(service).embed(["one"])

    assert is_vector_of(vector, "one")


async def test_a_second_bad_answer_is_reported() -> None:
    service = Service()
    service.failures = [BadAnswer("garbled"), BadAnswer("garbled again")]

    with pytest.raises(BadAnswer, match="again"):
        await embedder_of(service).embed(["one"])

    assert len(service.asked) == 2


@pytest.mark.parametrize(
    "bad", [[], [0.0] * SIZE, [math.nan] * SIZE, [math.inf] * SIZE, [1e308] * 9]
)
async def test_a_vector_without_a_direction_is_a_bad_answer(bad: list[float]) -> None:
    service = Service()
    service.answer = lambda text: bad

    with pytest.raises(BadAnswer):
        await embedder_of(service).embed(["one"])


async def test_vectors_of_another_dimension_are_a_bad_answer() -> None:
    service = Service()
    embedder = embedder_of(service)
    await embedder.embed(["one"])
    service.answer = lambda text: [1.0, 2.0]

    with pytest.raises(BadAnswer, match="other dimensions than 8"):
        await embedder.embed(["one"])


async def test_a_short_answer_is_never_a_shift() -> None:
    service = Service()

    async def one_too_few(texts: Sequence[str], purpose: Purpose) -> Embedded:
        return Embedded([vector_of(text, SIZE) for text in texts[1:]], 0)

    service.request = one_too_few  # type: ignore[method-assign]

    with pytest.raises(BadAnswer, match="1 vectors for 2 texts"):
        await embedder_of(service).embed(["one", "two"])


async def test_what_a_request_takes_is_counted() -> None:
    service, meter = Service(price=2.0, tokens=10), Meter()

    await embedder_of(service, meter).embed(["text"] * 8)

    assert (meter.total.requests, meter.total.input_tokens) == (2, 20)
    assert meter.total.usd == pytest.approx(20 * 2 / 1e6)


async def test_tokens_that_the_provider_does_not_count_are_estimated() -> None:
    meter = Meter()

    await embedder_of(Service(price=None, tokens=0), meter).embed(["123456789"])

    assert (meter.total.input_tokens, meter.total.usd) == (3, None)


async def test_bad_answers_cost_and_failures_do_not() -> None:
    service, meter = Service(tokens=0), Meter()
    service.failures = [ModelUnavailable("down"), BadAnswer("garbled")]

    await embedder_of(service, meter).embed(["12345678"])

    assert (meter.total.requests, meter.total.input_tokens) == (2, 4)


async def test_no_request_is_made_once_the_cap_is_spent() -> None:
    service, meter = Service(price=1e6, tokens=10), Meter(cap_usd=15.0)

    with pytest.raises(SpendCapReached):
        await embedder_of(service, meter, concurrency=1).embed(["text"] * 40)

    assert len(service.asked) == 2


async def test_closing_closes_the_service() -> None:
    service = Service()

    await embedder_of(service).close()

    assert service.closed


@pytest.fixture
async def server() -> AsyncIterator[EmbeddingServer]:
    async with EmbeddingServer(SIZE) as server:
        yield server


async def test_requests_run_together_but_not_too_many(server: EmbeddingServer) -> None:
    server.steps = [Step(delay=0.05)] * 12
    service = OpenAiEmbeddings("model", base_url=server.url, max_texts=1)

    await RemoteEmbedder(service, Meter(), concurrency=3).embed([f"text {n}" for n in range(12)])
    await service.close()

    assert server.max_at_once == 3
    assert len(server.requests) == 12


async def test_a_cancelled_embedding_leaves_nothing_running(server: EmbeddingServer) -> None:
    server.steps = [Step(delay=30)] * 8
    service = OpenAiEmbeddings("model", base_url=server.url, max_texts=1)
    before = asyncio.all_tasks()
    embedding = asyncio.create_task(RemoteEmbedder(service, Meter()).embed(["text"] * 8))
    for _ in range(4):
        await server.arrivals.get()

    embedding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await embedding
    await service.close()

    # What the server still does for each connection is its own.
    assert asyncio.all_tasks() - before <= server.connections


async def test_a_question_that_several_ask_at_once_is_one_request() -> None:
    service = Service()
    embedder = embedder_of(service)

    vectors = await asyncio.gather(*(embedder.embed_query(text) for text in ("a", "b", "a")))
    again = await embedder.embed_query("a")

    assert all(map(is_vector_of, [*vectors, again], "abaa"))
    assert service.asked == [["a"], ["b"], ["a"]]


async def test_the_last_question_is_not_sent_again_to_a_search_that_begins_later() -> None:
    service = Service()
    embedder = embedder_of(service)

    vectors = [await embedder.embed_query(text) for text in ("a", "a", "b", "a")]

    assert all(map(is_vector_of, vectors, "aaba"))
    assert service.asked == [["a"], ["b"], ["a"]]


async def test_a_failure_is_reported_to_all_callers_and_forgotten() -> None:
    service = Service()
    service.failures = [KeyRejected("no")]
    embedder = embedder_of(service)

    raised = await asyncio.gather(*map(embedder.embed_query, "aa"), return_exceptions=True)

    assert [str(one) for one in raised] == ["no", "no"]
    assert is_vector_of(await embedder.embed_query("a"), "a")


async def test_a_caller_that_gives_up_a_question_leaves_it_to_the_others(
    server: EmbeddingServer,
) -> None:
    server.steps = [Step(delay=0.2), Step(delay=30)]
    service = OpenAiEmbeddings("model", base_url=server.url)
    embedder = RemoteEmbedder(service, Meter())
    before = asyncio.all_tasks()
    first, second = (asyncio.create_task(embedder.embed_query("a")) for _ in range(2))
    await server.arrivals.get()

    first.cancel()
    assert is_vector_of(await second, "a")
    alone = asyncio.create_task(embedder.embed_query("b"))
    await server.arrivals.get()
    alone.cancel()
    await asyncio.wait([first, alone])
    await service.close()

    assert first.cancelled()
    assert alone.cancelled()
    assert asyncio.all_tasks() - before <= server.connections


async def test_the_first_failure_stops_the_others(server: EmbeddingServer) -> None:
    server.steps = [Step(delay=30), Step(delay=30), error(401, "no")]
    service = OpenAiEmbeddings("model", base_url=server.url, max_texts=1)

    with pytest.raises(KeyRejected):
        await asyncio.wait_for(RemoteEmbedder(service, Meter()).embed(["text"] * 9), 10)
    await service.close()


TEXTS = st.lists(
    st.one_of(st.sampled_from(["", " ", "a", "bb"]), st.text(max_size=12)), max_size=40
)
FAILURES = st.lists(
    st.sampled_from(
        [
            Step(),
            error(429, "slow down", Retry_After="0"),
            error(429, "slow down"),
            error(500, "oops"),
            error(503, "oops"),
            Step(cut_after=0),
            Step(cut_after=60),
            Step(cut_after=200),
            Step(delay=0.002),
        ]
    ),
    max_size=20,
)


@given(
    texts=TEXTS,
    max_texts=st.integers(1, 50),
    concurrency=st.integers(1, 8),
    failures=FAILURES,
    garbled=st.booleans(),
)
async def test_whatever_fails_for_a_while_each_text_gets_its_own_vector(
    texts: list[str], max_texts: int, concurrency: int, failures: list[Step], garbled: bool
) -> None:
    async with EmbeddingServer(SIZE) as server:
        # One at most: a second bad answer for the same texts is reported, not mended.
        server.steps = ([Step(spoil=one_missing)] if garbled else []) + failures
        service = OpenAiEmbeddings("model", base_url=server.url, max_texts=max_texts)
        patience = RetryPolicy(attempts=len(failures) + 2, first_wait=0.001, longest_wait=0.001)
        embedder = RemoteEmbedder(service, Meter(), patience, concurrency, Pauses())
        vectors = await embedder.embed(texts)
        await embedder.close()

    assert len(vectors) == len(texts)
    for text, vector in zip(texts, vectors, strict=True):
        if text.strip():
            assert is_vector_of(vector, text)
        else:
            assert vector is None
