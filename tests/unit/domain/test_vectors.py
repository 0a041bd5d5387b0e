"""Vectors: float32 numbers that have a direction."""

from __future__ import annotations

import math

import pytest

from ragforge.domain.vectors import Vector
from ragforge.errors import InvalidVector


def test_numbers_come_back_as_they_were_given() -> None:
    vector = Vector.of("m", [0.5, -2.0, 0.0])

    assert vector.values() == [0.5, -2.0, 0.0]
    assert vector.dimension == 3


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([], "0 bytes"),
        ([0.0, 0.0], "all its numbers are zero"),
        ([1.0, math.nan], "NaN or infinity"),
        ([1.0, math.inf], "NaN or infinity"),
    ],
)
def test_what_has_no_direction_is_refused(values: list[float], reason: str) -> None:
    with pytest.raises(InvalidVector, match=reason):
        Vector.of("m", values)


def test_a_vector_without_a_model_or_with_half_a_number_is_refused() -> None:
    with pytest.raises(InvalidVector, match="does not name its model"):
        Vector.of("", [1.0])
    with pytest.raises(InvalidVector, match="5 bytes"):
        Vector("m", b"12345").check()
