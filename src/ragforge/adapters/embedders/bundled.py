"""The bundled embedder: a static model whose table comes inside this package.

Each word is the sum of its pieces' vectors, a text the sum of its words, in lower case and
with identifiers split. The pieces of an identifier are kept once they are known, so that
a text costs one look-up for each of them. `table/README.md` says how the table was made.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from ragforge.adapters.embedders.static_table import StaticTable
from ragforge.adapters.embedders.word_pieces import WordPieces, split_identifier
from ragforge.concurrency import call_in_thread
from ragforge.domain.text import split_ascii_runs
from ragforge.domain.vectors import MeaningWeights, Vector
from ragforge.errors import EmbedderUnavailable
from ragforge.patterns import compile_on_use

Run: TypeAlias = str | bytes

_FOLDER = Path(__file__).with_name("table")
_RUN = compile_on_use(r"\w+")
_KNOWN = 1 << 18
"""How many runs of letters, and how many words, are kept. Then the tables start anew."""
_TOGETHER = 512
"""Texts that are taken apart before the first of them is summed."""


class BundledEmbedder:
    """Keeps the promises of `Embedder`, offline, in a fraction of a millisecond a text."""

    name = "ragforge-table-1"
    dimension = 256
    max_chars = 16_000
    history_threshold = 0.63
    code_threshold = 0.57
    weights = MeaningWeights(memory=0.25, scope=0.4, file=1.1, names=4)
    multilingual = True

    def __init__(self) -> None:
        self._runs: dict[Run, bytes] = {}  # the pieces of each run, two bytes a piece
        self._words: dict[str, bytes] = {}  # and of each word: there are fewer
        self._lock = threading.Lock()
        self._last: tuple[str, Vector | None] = ("", None)  # all searches ask the same question

    async def prepare(self) -> None:
        if not self._runs:
            await call_in_thread(self._embed, ["the first words"])

    async def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        return await call_in_thread(self._embed, texts)

    async def embed_query(self, text: str) -> Vector | None:
        if self._last[0] != text:
            self._last = text, self._embed([text])[0]  # done before a thread would have begun
        return self._last[1]

    async def close(self) -> None:
        """Nothing is held open."""

    def _embed(self, texts: Sequence[str]) -> list[Vector | None]:
        vectors: list[Vector | None] = []
        with self._lock:
            for start in range(0, len(texts), _TOGETHER):
                some = texts[start : start + _TOGETHER]
                found = [_split_runs(text[: self.max_chars]) for text in some]
                self._learn(found)
                pieces = [b"".join(map(self._runs.__getitem__, runs)) for runs in found]
                units = self._table.units(pieces)
                vectors += [None if unit is None else Vector(self.name, unit) for unit in units]
        return vectors

    def _learn(self, found: Sequence[Sequence[Run]]) -> None:
        """Find the pieces of every run that is new."""
        if len(self._runs) > _KNOWN:
            self._runs.clear()
        new = list(set[Run]().union(*found).difference(self._runs))
        if not new:
            return
        split = [split_identifier(_decode(run)) for run in new]
        if len(self._words) > _KNOWN:
            self._words.clear()
        unknown = set[str]().union(*split).difference(self._words)
        self._words.update((word, self._pieces.split(word)) for word in unknown)
        for run, words in zip(new, split, strict=True):
            self._runs[run] = b"".join(map(self._words.__getitem__, words))

    @cached_property
    def _table(self) -> StaticTable:
        return StaticTable(_find("vectors.npy"), _find("scales.npy"), self.dimension)

    @cached_property
    def _pieces(self) -> WordPieces:
        return WordPieces.read(_find("pieces.txt"))


def _split_runs(text: str) -> Sequence[Run]:
    return split_ascii_runs(text) if text.isascii() else _RUN.findall(text)


def _decode(run: Run) -> str:
    return run if isinstance(run, str) else run.decode("ascii")


def _find(name: str) -> Path:
    """Return where a file of the table is. Raises EmbedderUnavailable if it is missing."""
    path = _FOLDER / name
    if not path.is_file():
        raise EmbedderUnavailable(f"The file {path} is missing. Install RagForge again.")
    return path
