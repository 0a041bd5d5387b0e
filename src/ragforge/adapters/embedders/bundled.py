"""The bundled embedder: a static model whose table comes inside this package.

Each word is the sum of its pieces' vectors, a text the sum of its words, in lower case and
with identifiers split. The pieces of an identifier are kept once they are known, so that
a text costs one look-up for each of them. `table/README.md` says how the table was made.
"""

from __future__ import annotations

import math
import struct
import sys
import threading
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from ragforge.concurrency import call_in_thread
from ragforge.domain.text import split_ascii_runs
from ragforge.domain.vectors import MeaningWeights, Vector
from ragforge.errors import EmbedderUnavailable
from ragforge.patterns import compile_on_use

if TYPE_CHECKING:
    from ragforge.adapters.arrays import NDArray, np

Run: TypeAlias = str | bytes

_FOLDER = Path(__file__).with_name("table")
_RUN = compile_on_use(r"\w+")
_KNOWN = 1 << 18
"""How many runs of letters, and how many words, are cached before the caches are cleared."""
_TOGETHER = 512
"""Texts that are taken apart before the first of them is summed."""


_FEW = 4
"""Up to this many texts are summed without numpy, which takes longer to load."""
_HEADER_LENGTH_AT = 8
_LONG = 512
"""A text of more pieces says many of them often: each is then looked up once.

Sums of that many fit into 32 bits: a number has 7 of them, a scale 15, a count 9.
"""


_MULTIPLES = 127
"""The largest multiple of one number that a vector has: so each number fits into a byte."""
_STEP = 256
"""That number has eight significant bits: its multiples are float32 numbers."""


INSIDE = "##"
"""Begins every piece that is not the first of its word."""
_WORD = compile_on_use(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_]+")
_WORD_CHARS = 32
FEW = 1_000
"""How many pieces are looked up before all are read: that takes as long."""


class BundledEmbedder:
    """Implements `Embedder`, offline, in a fraction of a millisecond a text."""

    name = "ragforge-table-1"
    dimension = 256
    max_chars = 16_000
    history_threshold = 0.63
    code_threshold = 0.57
    weights = MeaningWeights(
        memory=0.25, scope=0.4, file=1.1, names=4, fluent=frozenset(("french",))
    )
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
        return WordPieces(_find("pieces.txt").read_bytes())


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


class StaticTable:
    """Two files that numpy has saved: rows of int8, and a uint16 below 2 ** 15 for each."""

    def __init__(self, rows: Path, scales: Path, dimension: int) -> None:
        self._rows = rows
        self._scales = scales
        self._dimension = dimension

    def units(self, texts: Sequence[bytes]) -> Iterator[bytes | None]:
        """Yield for each text's pieces, two bytes a piece, their sum at length 1.

        Its numbers are rounded so that each fits into a byte. It is little-endian float32, or None
        where the sum has no direction.
        """
        if len(texts) <= _FEW and sys.modules.get("numpy") is None:
            return self._units_plainly(texts)
        return self._units(texts)

    def _units(self, texts: Sequence[bytes]) -> Iterator[bytes | None]:
        from ragforge.adapters.arrays import np

        rows, numbers = self._look_up(b"".join(texts))
        totals = np.zeros((len(texts), self._dimension))
        end = 0
        for total, text in zip(totals, texts, strict=True):
            start, end = end, end + len(text) // 2
            pieces = numbers[start:end]
            if len(pieces) > _LONG:
                pieces, counts = np.unique(pieces, return_counts=True)
                np.matmul(counts.astype("f8"), rows[pieces].astype("f8"), out=total)
            elif len(pieces):
                chosen = np.take(rows, pieces, axis=0, mode="clip")
                total[:] = np.add.reduce(chosen, axis=0, dtype=np.int32)
        lengths = np.sqrt(np.einsum("ij,ij->i", totals, totals))
        largest = np.abs(totals).max(axis=1, initial=0.0)
        significands, exponents = np.frexp(largest / np.where(lengths, lengths, 1.0) / _MULTIPLES)
        steps = np.ldexp(np.ceil(significands * _STEP) / _STEP, exponents)
        units = totals / np.where(lengths, lengths * steps, 1.0)[:, None]
        units = ((np.rint(units) + 0.0) * steps[:, None]).astype("<f4")  # and no -0.0
        for unit, length in zip(units, lengths.tolist(), strict=True):
            yield unit.tobytes() if length else None

    def _look_up(self, text: bytes) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
        """Return the vectors of all pieces that occur, and which of them each piece has."""
        from ragforge.adapters.arrays import np

        table, scales = self._arrays
        pieces = np.frombuffer(text, np.uint16)
        occurs = np.zeros(len(table), np.bool_)
        occurs[pieces] = True
        found = np.flatnonzero(occurs)
        places = np.zeros(len(table), np.intp)
        places[found] = np.arange(len(found))
        return table[found].astype("i4") * scales[found].astype("i4")[:, None], places[pieces]

    def _units_plainly(self, texts: Sequence[bytes]) -> Iterator[bytes | None]:
        with self._rows.open("rb") as rows, self._scales.open("rb") as scales:
            first_row, first_scale = _find_first(rows), _find_first(scales)
            for text in texts:
                vectors = []
                for piece, count in Counter(array("H", text)).items():
                    row = array("b", _read(rows, first_row, piece, self._dimension))
                    scale = int.from_bytes(_read(scales, first_scale, piece, 2), "little")
                    vectors.append([count * scale * number for number in row])
                total = [sum(column) for column in zip(*vectors, strict=True)]
                length = math.sqrt(sum(number * number for number in total))
                unit = _round(total, length) if length else []
                yield struct.pack(f"<{len(unit)}f", *unit) if length else None

    @cached_property
    def _arrays(self) -> tuple[NDArray[np.int8], NDArray[np.uint16]]:
        from ragforge.adapters.arrays import np

        return np.load(self._rows, mmap_mode="r"), np.load(self._scales)


def _round(total: Sequence[int], length: float) -> list[float]:
    """Return the numbers of a vector at length 1, each rounded to a multiple of one number."""
    significand, exponent = math.frexp(max(map(abs, total)) / length / _MULTIPLES)
    step = math.ldexp(math.ceil(significand * _STEP) / _STEP, exponent)
    return [round(number / (length * step)) * step for number in total]


def _find_first(file: BinaryIO) -> int:
    """Return where the first item begins in a file that numpy has saved."""
    file.seek(_HEADER_LENGTH_AT)
    return _HEADER_LENGTH_AT + 2 + int.from_bytes(file.read(2), "little")


def _read(file: BinaryIO, first: int, number: int, size: int) -> bytes:
    """Return one of the items of this size."""
    file.seek(first + number * size)
    return file.read(size)


def split_identifier(text: str) -> list[str]:
    """Return the words of an identifier, in lower case."""
    return [word[:_WORD_CHARS].lower() for word in _WORD.findall(text)]


def format_pieces(pieces: Sequence[str]) -> bytes:
    """Return a vocabulary as it is stored: a piece and its number a line, sorted by the piece."""
    numbered = sorted((piece.encode(), number) for number, piece in enumerate(pieces))
    return b"".join(b"%b %d\n" % one for one in numbered)


def parse_pieces(stored: bytes) -> dict[str, int]:
    """Return the pieces of a stored vocabulary with their numbers."""
    fields = stored.decode().replace("\n", " ").split(" ")[:-1]
    return dict(zip(fields[::2], map(int, fields[1::2]), strict=True))


class WordPieces:
    """A vocabulary as it is stored: its pieces, in which words are found, have numbers."""

    def __init__(self, stored: bytes) -> None:
        self._stored = stored
        self._looked_up = 0

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return parse_pieces(self._stored)

    def _find(self, piece: str) -> int | None:
        """Return the number of a piece. The first few are looked up in the sorted lines.

        A process that embeds one question would take longer to read all.
        """
        if self._looked_up >= FEW:
            return self._numbers.get(piece)
        self._looked_up += 1
        wanted = piece.encode(errors="replace")
        low, high = 0, len(self._stored)
        while low < high:
            start = self._stored.rfind(b"\n", low, (low + high) // 2) + 1 or low
            end = self._stored.index(b"\n", start)
            known, _, number = self._stored[start:end].partition(b" ")
            if known == wanted:
                return int(number)
            low, high = (end + 1, high) if known < wanted else (low, start)
        return None

    def split(self, word: str) -> bytes:
        """Return the numbers of a word's pieces, two bytes a piece.

        From the left, each the longest that is known. What no piece covers is left out.
        """
        pieces = array("H")
        start, before = 0, ""
        while start < len(word):
            for end in range(len(word), start, -1):
                known = self._find(before + word[start:end])
                if known is not None:
                    pieces.append(known)
                    break
            else:
                end = start + 1
            start, before = end, INSIDE
        return pieces.tobytes()
