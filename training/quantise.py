"""Quantise: the rows of a table as int8, each with its scale, as the package holds them."""

from __future__ import annotations

import numpy as np

LARGEST = 2**15 - 1
"""Of all scales: products with a row fit into 32 bits, and so do the sums of most texts."""


def quantise(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a table's rows as int8, and the scale of each as a whole number.

    Row times scale is the vector in a unit that does not matter: texts are brought to length 1.
    """
    tops = np.maximum(np.abs(table).max(1), 1e-12)
    scales = np.maximum(np.rint(tops / tops.max() * LARGEST), 1).astype(np.uint16)
    return np.round(table / tops[:, None] * 127).astype(np.int8), scales
