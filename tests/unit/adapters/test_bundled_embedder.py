"""The bundled embedder: offline, in order, the same on every machine."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragforge.adapters.embedders import bundled
from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.domain.vectors import Vector
from ragforge.errors import EmbedderUnavailable

EMBEDDER = BundledEmbedder()


def cosine(one: Vector | None, other: Vector | None) -> float:
    assert one is not None
    assert other is not None
    return sum(a * b for a, b in zip(one.values(), other.values(), strict=True))


def run(code: str) -> str:
    """Return what a program prints that has loaded nothing yet."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


async def test_a_text_is_nearer_to_its_like_than_to_others() -> None:
    query = await EMBEDDER.embed_query("how do users log in?")
    login, parser = await EMBEDDER.embed(
        ["def authenticate(user, password)", "class MarkdownRenderer"]
    )

    assert cosine(query, login) > cosine(query, parser)


async def test_identifiers_mean_what_their_parts_mean() -> None:
    camel, snake, words = await EMBEDDER.embed(
        ["parseHTTPHeader", "parse_http_header", "parse http header"]
    )

    assert camel == snake == words


async def test_vectors_have_length_one_and_the_promised_dimension() -> None:
    [vector] = await EMBEDDER.embed(["hello world " * 5_000])

    assert vector is not None
    assert vector.dimension == EMBEDDER.dimension
    assert vector.model == EMBEDDER.name
    assert math.isclose(math.hypot(*vector.values()), 1, abs_tol=2e-3)  # numbers are rounded


async def test_vectors_are_the_same_on_every_machine() -> None:
    vector = await EMBEDDER.embed_query("the quick brown fox")

    assert vector is not None
    assert vector.values()[:4] == pytest.approx(GOLDEN, abs=1e-6)


GOLDEN = [-0.00148, -0.078445, 0.109528, -0.180573]


@given(st.lists(st.one_of(st.just(""), st.just("?!"), st.text(max_size=20)), max_size=8))
async def test_each_text_has_its_own_vector_or_an_explicit_hole(texts: list[str]) -> None:
    together = await EMBEDDER.embed(texts)
    alone = [await EMBEDDER.embed_query(text) for text in texts]

    assert together == alone


async def test_more_words_than_are_kept_give_the_same_vectors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = [f"word{chr(97 + n % 26)}{chr(97 + n // 26)} common" for n in range(600)]
    before = await BundledEmbedder().embed(texts)
    monkeypatch.setattr(bundled, "_KNOWN", 50)

    after = await BundledEmbedder().embed(texts)

    assert before == after


async def test_a_text_has_the_same_vector_by_itself_and_among_many() -> None:
    texts = ["parseHTTPHeader", "größer als", "long_text of words " * 600, "", "___"]

    alone = [(await BundledEmbedder().embed([text]))[0] for text in texts]
    among = (await BundledEmbedder().embed(texts * 20))[: len(texts)]
    without_numpy = run(
        "import asyncio, sys; from ragforge.adapters.embedders.bundled import BundledEmbedder;"
        f"embedder = BundledEmbedder(); texts = {texts!r};"
        "found = [asyncio.run(embedder.embed([text]))[0] for text in texts];"
        "assert 'numpy' not in sys.modules;"
        "print(*(v.data.hex() if v else '-' for v in found))"
    ).split()

    assert alone == among
    assert [vector.data.hex() if vector else "-" for vector in alone] == without_numpy


async def test_a_missing_table_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bundled, "_FOLDER", tmp_path)

    with pytest.raises(EmbedderUnavailable, match=r"pieces\.txt is missing"):
        await BundledEmbedder().embed_query("hello")


def test_the_table_fits_together() -> None:
    stored = (bundled._FOLDER / "pieces.txt").read_bytes()
    numbers = bundled.parse_pieces(stored)
    pieces = sorted(numbers, key=numbers.__getitem__)
    rows = np.load(bundled._FOLDER / "vectors.npy")
    scales = np.load(bundled._FOLDER / "scales.npy")

    assert rows.shape == (len(pieces), BundledEmbedder.dimension)
    assert (rows.dtype, scales.dtype) == (np.int8, np.uint16)
    assert scales.shape == (len(pieces),)
    assert 0 < scales.min() <= scales.max() < 2**15  # so that sums are exact
    assert [*numbers.values()] != sorted(numbers.values()) == [*range(len(pieces))]
    assert bundled.format_pieces(pieces) == stored
    assert len(pieces) < 2**16
    assert all(piece.removeprefix("##") for piece in pieces)


def test_a_question_loads_no_large_library() -> None:
    code = (
        "import asyncio, sys; from ragforge.adapters.embedders.bundled import BundledEmbedder;"
        "asyncio.run(BundledEmbedder().embed_query('hello'));"
        "print([m for m in ('requests', 'httpx2', 'numpy') if m in sys.modules])"
    )

    assert run(code).strip() == "[]"
