"""Packed vectors: those whose numbers are all multiples of one number take a byte for each.

Bundled vectors are made so. A packed vector is the float32 number, the multiples, and a byte that
makes its length differ from those of others. Unpacking restores every bit.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragforge.adapters.arrays import Floats

_LARGEST = (127, 126, 125)
"""The largest multiple in a vector, whose rounding is not known."""
_END = b"\0"
_ENDS = len(_END) + 4
_ROUNDING = 5e-7
"""How far the length of a vector of float32 numbers may be from 1 that was made 1."""


def pack(vectors: Sequence[bytes]) -> list[bytes]:
    """Return vectors of one length as they are stored: packed if nothing is lost."""
    from ragforge.adapters.arrays import np

    rows = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)
    packed = list(vectors)
    left = np.arange(len(vectors))
    if rows.shape[1] % 4:
        return packed
    for largest in _LARGEST:
        some = rows[left]
        with np.errstate(all="ignore"):  # others have all kinds of numbers
            steps = (np.abs(some).max(axis=1) / np.float32(largest)).astype("<f4")
            multiples = np.rint(some / steps[:, None]).astype("i1")
            restored = multiples * steps[:, None]
        exact = (restored.view("i4") == some.view("i4")).all(axis=1)
        for place in np.flatnonzero(exact).tolist():
            packed[left[place]] = steps[place].tobytes() + multiples[place].tobytes() + _END
        left = left[~exact]
    return packed


def unpack(stored: bytes) -> bytes:
    """Return a stored vector as float32."""
    if len(stored) % 4 == 0:
        return stored
    [step] = struct.unpack_from("<f", stored)
    numbers = array("b", stored[4:-1])
    return struct.pack(f"<{len(numbers)}f", *[step * number for number in numbers])


def unpack_all(stored: Sequence[bytes], dimension: int) -> Floats:
    """Return the directions of stored vectors: rows of float32 at length 1."""
    from ragforge.adapters.arrays import np

    if all(len(one) == dimension + _ENDS for one in stored):
        multiples = np.frombuffer(b"".join(stored), "i1").reshape(len(stored), -1)[:, 4:-1]
        rows = multiples.astype("f4")
        rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
        return rows
    joined = b"".join(map(unpack, stored))
    return normalise(np.frombuffer(joined, "<f4").reshape(len(stored), dimension))


def normalise(vectors: Floats) -> Floats:
    """Return vectors at length 1."""
    from ragforge.adapters.arrays import np

    # In float64: the squares of float32 numbers may be too large or too small for float32.
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    if np.abs(norms - 1.0).max(initial=0.0) < _ROUNDING:
        return vectors  # as most models make them
    unit: Floats = (vectors / norms[:, None]).astype(np.float32)
    return unit
