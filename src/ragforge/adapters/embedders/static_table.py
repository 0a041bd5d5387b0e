"""The table of a static model: a vector for each token, of which texts are the sums."""

from __future__ import annotations

import json
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
    from ragforge.adapters.arrays import Floats, NDArray, np

_FEW = 4
"""Up to so many texts are summed without numpy, which takes longer to load than that."""
_SOME = 32
"""Up to so many are summed from the file: the table in memory takes longer to make."""
_LONG = 512
"""A text of more tokens says many of them often: each is then looked up once."""


class StaticTable:
    """Rows of half-precision numbers in a safetensors file with one tensor."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def units(self, texts: Sequence[bytes]) -> Iterator[bytes | None]:
        """Yield for each text's tokens, two bytes a token, their sum at length 1.

        It is little-endian float32, or None where the sum has no direction.
        """
        if len(texts) <= _FEW and "numpy" not in sys.modules:
            return self._units_plainly(texts)
        return self._units(texts)

    def _units(self, texts: Sequence[bytes]) -> Iterator[bytes | None]:
        from ragforge.adapters.arrays import np

        table = self._on_disk if len(texts) <= _SOME else self._in_memory
        totals = np.zeros((len(texts), table.shape[1]), np.float32)
        for total, text in zip(totals, texts, strict=True):
            tokens = np.frombuffer(text, np.uint16)
            if len(tokens) > _LONG:
                tokens, counts = np.unique(tokens, return_counts=True)
                np.matmul(counts.astype("f4"), table[tokens].astype("f4", copy=False), out=total)
            elif len(tokens):
                rows = np.take(table, tokens, axis=0, mode="clip")
                np.add.reduce(rows, axis=0, dtype=np.float32, out=total)
        lengths = np.sqrt(np.einsum("ij,ij->i", totals, totals))
        units = (totals / np.where(lengths, lengths, 1.0)[:, None]).astype("<f4", copy=False)
        for unit, length in zip(units, lengths.tolist(), strict=True):
            yield unit.tobytes() if length else None

    def _units_plainly(self, texts: Sequence[bytes]) -> Iterator[bytes | None]:
        start, (_, dimension) = self._place
        row = struct.Struct(f"<{dimension}e")
        with self._path.open("rb") as file:
            for text in texts:
                rows = []
                for token, count in Counter(array("H", text)).items():
                    numbers = row.unpack(_read(file, start + token * row.size, row.size))
                    rows.append(numbers if count == 1 else [count * n for n in numbers])
                total = [sum(column) for column in zip(*rows, strict=True)]
                length = math.hypot(*total)
                unit = [number / length for number in total] if length else []
                yield struct.pack(f"<{dimension}f", *unit) if length else None

    @cached_property
    def _place(self) -> tuple[int, tuple[int, int]]:
        """Where the numbers begin in the file, and how many rows and columns there are."""
        with self._path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length))
        [tensor] = [value for name, value in header.items() if name != "__metadata__"]
        rows, columns = tensor["shape"]
        return 8 + length + tensor["data_offsets"][0], (rows, columns)

    @cached_property
    def _on_disk(self) -> NDArray[np.float16]:
        from ragforge.adapters.arrays import np

        start, shape = self._place
        return np.memmap(self._path, "<f2", "r", start, shape)

    @cached_property
    def _in_memory(self) -> Floats:
        """The same as numbers that add up without being converted."""
        from ragforge.adapters.arrays import np

        return np.asarray(self._on_disk, np.float32)


def _read(file: BinaryIO, place: int, size: int) -> bytes:
    file.seek(place)
    return file.read(size)
