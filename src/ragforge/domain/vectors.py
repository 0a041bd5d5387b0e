"""Vectors: embeddings, with the name of their model."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Iterable
from typing import NamedTuple

from ragforge.domain.text import check_text
from ragforge.errors import InvalidVector
from ragforge.records import dataclass


class MeaningWeights(NamedTuple):
    """How much a model's vectors count relative to words, and names in the embedded texts.

    The better the model, the more its vectors count.

    The defaults are for a static table, which may reorder what words found, but not more.
    """

    memory: float = 0.3  # 0..1, of a turn's or a summary's score
    scope: float = 0.2  # of a scope; its words count up to 1
    file: float = 1.0  # of a whole file
    names: int = 0  # how often a scope's text repeats its names, for a model that sums words
    fluent: frozenset[str] | None = None  # languages that need no English next to them; None: all

    @property
    def is_instant(self) -> bool:
        """Whether embedding is free: the model only sums the vectors of words."""
        return self.names > 0


TRANSFORMER = MeaningWeights(memory=0.4, scope=0.4, file=1.4)
"""For a provider's model, which understands sentences in many languages. Not measured."""


@dataclass(frozen=True, slots=True)
class Vector:
    """An embedding: little-endian float32. Vectors of different models are never compared."""

    model: str
    data: bytes

    @classmethod
    def of(cls, model: str, values: Iterable[float]) -> Vector:
        """Build a vector from numbers. Raises InvalidVector for none, zeros, NaN or infinity."""
        try:
            numbers = array("f", values)
        except OverflowError as error:
            raise InvalidVector("a number is too large for float32") from error
        vector = cls(model, _to_little_endian(numbers).tobytes())
        vector.check()
        return vector

    @property
    def dimension(self) -> int:
        return len(self.data) // 4

    def values(self) -> list[float]:
        numbers = array("f")
        numbers.frombytes(self.data)
        return _to_little_endian(numbers).tolist()

    def check(self) -> None:
        """Raise InvalidVector if the vector cannot be compared with others."""
        if not self.model:
            raise InvalidVector("it does not name its model")
        check_text("model", self.model)
        if not self.data or len(self.data) % 4:
            raise InvalidVector(f"{len(self.data)} bytes are not a float32 vector")
        norm = math.hypot(*self.values())
        if not math.isfinite(norm):
            raise InvalidVector("it holds NaN or infinity")
        if norm == 0:
            raise InvalidVector("all its numbers are zero")


def _to_little_endian(numbers: array[float]) -> array[float]:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
