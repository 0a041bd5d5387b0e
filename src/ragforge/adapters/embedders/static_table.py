"""The table of a static model: a vector for each word piece, of which texts are the sums.

A row of small numbers and its scale, both whole numbers, are a piece's vector. So sums are
exact: a text has the same vector bit for bit, in whatever order and company it is summed.
"""

from __future__ import annotations

import math
import struct
import sys
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from ragforge.adapters.arrays import NDArray, np

_FEW = 4
"""Up to so many texts are summed without numpy, which takes longer to load than that."""
_HEADER_LENGTH_AT = 8
_LONG = 512
"""A text of more pieces says many of them often: each is then looked up once.

Sums of that many fit into 32 bits: a number has 7 of them, a scale 15, a count 9.
"""


class StaticTable:
    """Two files that numpy has saved: rows of int8, and a uint16 below 2 ** 15 for each."""

    def __init__(self, rows: Path, scales: Path, dimension: int) -> None:
        self._rows = rows
        self._scales = scales
        self._dimension = dimension

    def units(self, texts: Sequence[bytes]) -> Iterator[bytes | None]:
        """Yield for each text's pieces, two bytes a piece, their sum at length 1.

        It is little-endian float32, or None where the sum has no direction.
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
        units = (totals / np.where(lengths, lengths, 1.0)[:, None]).astype("<f4")
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
                unit = [number / length for number in total] if length else []
                yield struct.pack(f"<{len(unit)}f", *unit) if length else None

    @cached_property
    def _arrays(self) -> tuple[NDArray[np.int8], NDArray[np.uint16]]:
        from ragforge.adapters.arrays import np

        return np.load(self._rows, mmap_mode="r"), np.load(self._scales)


def _find_first(file: BinaryIO) -> int:
    """Return where the first item begins in a file that numpy has saved."""
    file.seek(_HEADER_LENGTH_AT)
    return _HEADER_LENGTH_AT + 2 + int.from_bytes(file.read(2), "little")


def _read(file: BinaryIO, first: int, number: int, size: int) -> bytes:
    """Return one of the items of this size."""
    file.seek(first + number * size)
    return file.read(size)
