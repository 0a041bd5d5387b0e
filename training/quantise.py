"""Quantise: the rows of a table as int8, each with its scale."""

from __future__ import annotations

import numpy as np


def quantise(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a table's rows as int8, and the scale of each."""
    scales = np.maximum(np.abs(table).max(1), 1e-12) / 127
    return np.round(table / scales[:, None]).astype(np.int8), scales.astype(np.float32)
