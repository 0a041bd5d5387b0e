"""The bundled embedder: a static model whose weights come inside a wheel.

Each word is the sum of its tokens' vectors from WordLlama's table, a text the sum of its
words, in lower case and with identifiers split: on long conversations that finds more
than the table's own tokenising does. The sum of an identifier is kept once it is known, so
that a text costs one look-up for each of them.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import threading
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.domain.vectors import Vector
from ragforge.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from ragforge.adapters.arrays import Floats, Ints, NDArray, np

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENISER = "tokenizers/l2_supercat_tokenizer_config.json"
_RUN = re.compile(r"\w+")
_ASCII_RUN = re.compile(r"\w+", re.ASCII)  # finds the same in such a text, and sooner
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_]+")
_WORD_CHARS = 32
_KNOWN_RUNS = 1 << 17
"""How many runs of letters are kept: 128 MB of them. Then the table starts anew."""
_KNOWN_WORDS = 1 << 18
_TOGETHER = 128
"""Texts whose new words are tokenised in one call: many calls cost more than the work."""


class BundledEmbedder:
    """Keeps the promises of `Embedder`, offline, in a fraction of a millisecond a text."""

    name = "wordllama-l2-supercat-256/words-1"
    dimension = 256
    max_chars = 16_000
    history_threshold = 0.6
    code_threshold = 0.55

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}  # of each run that is known
        self._words: dict[str, list[int]] = {}  # tokens of each word: there are fewer of these
        self._lock = threading.Lock()

    async def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        return await asyncio.to_thread(self._embed, texts)

    async def embed_query(self, text: str) -> Vector | None:
        return (await self.embed([text]))[0]

    async def close(self) -> None:
        """Nothing is held open."""

    def _embed(self, texts: Sequence[str]) -> list[Vector | None]:
        vectors: list[Vector | None] = []
        with self._lock:
            for start in range(0, len(texts), _TOGETHER):
                some = [text[: self.max_chars] for text in texts[start : start + _TOGETHER]]
                found = [(_ASCII_RUN if text.isascii() else _RUN).findall(text) for text in some]
                self._learn(found)
                vectors += map(self._sum, found)
        return vectors

    def _sum(self, runs: Sequence[str]) -> Vector | None:
        from ragforge.adapters.arrays import np

        rows = np.fromiter(map(self._rows.__getitem__, runs), np.int64, len(runs))
        total = np.take(self._table, rows, axis=0, mode="clip").sum(axis=0)
        length = math.sqrt(total @ total)
        if not length:
            return None
        return Vector(self.name, (total / length).astype("<f4").tobytes())

    def _learn(self, found: Sequence[Sequence[str]]) -> None:
        """Give every new run a row of the table: the sum of its words' tokens."""
        from ragforge.adapters.arrays import np

        if len(self._rows) > _KNOWN_RUNS:
            self._rows.clear()
        new = list(set[str]().union(*found).difference(self._rows))
        if not new:
            return
        tokens, starts = self._tokens_of(new)
        first, last = len(self._rows), len(self._rows) + len(new)
        self._make_room(last)
        self._table[first:last] = 0.0
        filled = np.flatnonzero(np.diff(starts, append=len(tokens)))
        if len(filled):
            looked_up = self._weights[tokens].astype("f4")
            self._table[first + filled] = np.add.reduceat(looked_up, starts[filled], axis=0)
        self._rows.update(zip(new, range(first, last), strict=True))

    def _tokens_of(self, runs: Sequence[str]) -> tuple[list[int], Ints]:
        """Return the tokens of all runs, one after the other, and where each run's begin."""
        from ragforge.adapters.arrays import np

        split = [[word[:_WORD_CHARS].lower() for word in _WORD.findall(run)] for run in runs]
        if len(self._words) > _KNOWN_WORDS:
            self._words.clear()
        unknown = list(set[str]().union(*split).difference(self._words))
        encoded = self._tokeniser.encode_batch(unknown, add_special_tokens=False)
        self._words.update((word, one.ids) for word, one in zip(unknown, encoded, strict=True))
        tokens: list[int] = []
        starts = []
        for words in split:
            starts.append(len(tokens))
            for word in words:
                tokens += self._words[word]
        return tokens, np.array(starts, np.int64)

    def _make_room(self, rows: int) -> None:
        from ragforge.adapters.arrays import np

        if rows > len(self._table):
            grown = np.empty((max(rows, len(self._table) * 2), self.dimension), np.float32)
            grown[: len(self._table)] = self._table
            self._table = grown

    @cached_property
    def _table(self) -> Floats:
        from ragforge.adapters.arrays import np

        return np.empty((4_096, self.dimension), np.float32)

    @cached_property
    def _weights(self) -> NDArray[np.float16]:
        """The vector of every token, left on disk until it is used."""
        from ragforge.adapters.arrays import np

        path = _package() / _WEIGHTS
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length))
        [tensor] = [value for name, value in header.items() if name != "__metadata__"]
        start = 8 + length + tensor["data_offsets"][0]
        return np.memmap(path, "<f2", "r", start, tuple(tensor["shape"]))

    @cached_property
    def _tokeniser(self) -> Tokenizer:
        from tokenizers import Tokenizer

        return Tokenizer.from_file(str(_package() / _TOKENISER))


def _package() -> Path:
    """Return the folder of the wheel with the weights, without importing its code."""
    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise EmbedderUnavailable("The package 'wordllama' is missing. Install RagForge again.")
    return Path(spec.submodule_search_locations[0])
