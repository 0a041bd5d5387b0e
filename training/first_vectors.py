"""First vectors: what a piece means before training, from two public models.

A piece begins as the sum of its tokens' vectors in WordLlama's table (MIT): so texts of whole words
have at first the vectors they had with that table. Beside it stands, at half the weight, what the
sentence encoder all-MiniLM-L6-v2 (Apache-2.0) makes of the piece alone. Of the 640 numbers the 256
directions are kept in which the pieces of English texts and of code differ most.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from ragforge.adapters.embedders.bundled import INSIDE
from training.pieces import Pieces

DIMENSION = 256
TEACHER_SHARE, UNSEEN_SHARE, LONGEST = 0.5, 0.3, 1.2
"""The weight of the encoder; of it for words that no English text or code holds; and the most that
a word's own weight may be.
"""
FLATTEN = 0.25
"""Frequent pieces count more in the choice of directions, by this power of their share."""


def make_first_vectors(
    pieces: list[str], counts: Sequence[Counter[str]], model: Path
) -> np.ndarray:
    """Return a row a piece; `counts` are the words of English texts and of code."""
    words = sum_tokens(pieces)
    meant = encode_pieces(pieces, model)
    meant -= meant.mean(0)
    meant /= np.maximum(np.linalg.norm(meant, axis=1, keepdims=True), 1e-9)
    seen = [any(some[piece] for some in counts) for piece in pieces]
    english = [re.fullmatch(r"(##)?[a-z]+", piece) is not None for piece in pieces]
    trust = np.where(seen, 1.0, UNSEEN_SHARE) * np.array(english)
    lengths = np.minimum(np.linalg.norm(words, axis=1), LONGEST)
    both = np.hstack([words, TEACHER_SHARE * meant * (lengths * trust)[:, None]])
    return reduce(both, (share_of_texts(pieces, counts) + 1e-7) ** FLATTEN)


def sum_tokens(pieces: Sequence[str]) -> np.ndarray:
    """Return the sums of the pieces' tokens in WordLlama's table, in units of the usual length."""
    from tokenizers import Tokenizer

    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("The package 'wordllama' is missing: its table is the start.")
    folder = Path(spec.submodule_search_locations[0])
    data = (folder / "weights/l2_supercat_256.safetensors").read_bytes()
    header = int.from_bytes(data[:8], "little")
    table = np.frombuffer(data, np.float16, offset=8 + header).reshape(-1, 256).astype("f4")
    tokeniser = Tokenizer.from_file(str(folder / "tokenizers/l2_supercat_tokenizer_config.json"))
    tokeniser.no_padding()
    words = [piece.removeprefix(INSIDE) for piece in pieces]
    tokens = tokeniser.encode_batch(words, add_special_tokens=False)
    first = np.array([table[one.ids].sum(0) for one in tokens], "f4")
    return first / np.linalg.norm(first, axis=1).mean()


def encode_pieces(pieces: Sequence[str], model: Path) -> np.ndarray:
    """Return the encoder's vector of each piece alone."""
    from training.teach import encode

    return encode([piece.removeprefix(INSIDE) for piece in pieces], model, unit=False)


def share_of_texts(pieces: list[str], counts: Sequence[Counter[str]]) -> np.ndarray:
    """Return the share of each piece, as the mean over kinds of text."""
    split, shares = Pieces(pieces).split, np.zeros(len(pieces))
    for some in counts:
        for word, times in some.items():
            for piece in split(word):
                shares[piece] += times / some.total() / len(counts)
    return shares


def reduce(vectors: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the vectors in the directions in which the weighted ones differ most."""
    weighted = vectors * weights[:, None]
    directions, _, _ = np.linalg.svd(weighted.T @ weighted)
    short: np.ndarray = vectors @ directions[:, :DIMENSION]
    return short.astype("f4")
