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
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ragforge.domain.vectors import Vector
from ragforge.errors import EmbedderUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    Floats: TypeAlias = NDArray[np.float32]

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENISER = "tokenizers/l2_supercat_tokenizer_config.json"
_RUN = re.compile(r"\w+")
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_]+")
_WORD_CHARS = 32
_KNOWN_RUNS = 1 << 16
"""How many runs of letters are kept: 64 MB of them. Then the table starts anew."""


class BundledEmbedder:
    """Keeps the promises of `Embedder`, offline, in a fraction of a millisecond a text."""

    name = "wordllama-l2-supercat-256/words-1"
    dimension = 256
    max_chars = 16_000
    history_threshold = 0.6
    code_threshold = 0.55

    def __init__(self) -> None:
        self._rows = _Rows(self._learn)
        self._lock = threading.Lock()

    async def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        return await asyncio.to_thread(self._embed, texts)

    async def embed_query(self, text: str) -> Vector | None:
        return (await self.embed([text]))[0]

    async def close(self) -> None:
        """Nothing is held open."""

    def _embed(self, texts: Sequence[str]) -> list[Vector | None]:
        with self._lock:
            return [self._embed_one(text[: self.max_chars]) for text in texts]

    def _embed_one(self, text: str) -> Vector | None:
        import numpy as np

        if len(self._rows) > _KNOWN_RUNS:
            self._rows.clear()
        runs = _RUN.findall(text)
        rows = np.fromiter(map(self._rows.__getitem__, runs), np.int64, len(runs))
        total = np.take(self._table, rows, axis=0, mode="clip").sum(axis=0)
        length = math.sqrt(total @ total)
        if not length:
            return None
        return Vector(self.name, (total / length).astype("<f4").tobytes())

    def _learn(self, run: str) -> int:
        """Put the sum of a new run's words into the next row of the table."""
        import numpy as np

        words = [word[:_WORD_CHARS].lower() for word in _WORD.findall(run)]
        found = self._tokeniser.encode_batch(words, add_special_tokens=False)
        tokens = [token for word in found for token in word.ids]
        row = len(self._rows)
        if row >= len(self._table):
            grown = np.empty((len(self._table) * 2, self.dimension), np.float32)
            grown[: len(self._table)] = self._table
            self._table = grown
        self._table[row] = self._weights[tokens].astype("f4").sum(axis=0)
        return row

    @cached_property
    def _table(self) -> Floats:
        import numpy as np

        return np.empty((4_096, self.dimension), np.float32)

    @cached_property
    def _weights(self) -> NDArray[np.float16]:
        """The vector of every token, left on disk until it is used."""
        import numpy as np

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


class _Rows(dict[str, int]):
    """The row of each run that is known; an unknown one is learnt as it is asked for."""

    def __init__(self, learn: Callable[[str], int]) -> None:
        self._learn = learn

    def __missing__(self, run: str) -> int:
        row = self[run] = self._learn(run)
        return row


def _package() -> Path:
    """Return the folder of the wheel with the weights, without importing its code."""
    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise EmbedderUnavailable("The package 'wordllama' is missing. Install RagForge again.")
    return Path(spec.submodule_search_locations[0])
