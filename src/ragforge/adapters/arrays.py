"""Arrays: numpy, loaded so that its linear algebra keeps to one thread.

Idle threads of the linear algebra spin: for scans as short as ours they cost more than they
save. The setting takes effect when numpy is first loaded, so all modules load it from here; and
it is removed again, so that child processes do not inherit it.
"""

from __future__ import annotations

import os
from typing import TypeAlias

_THREADS = "OPENBLAS_NUM_THREADS"
_is_set = _THREADS in os.environ
os.environ.setdefault(_THREADS, "1")
import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

if not _is_set:
    del os.environ[_THREADS]

__all__ = ["Bits", "Floats", "Ints", "NDArray", "np", "parse_numbers"]

Floats: TypeAlias = NDArray[np.float32]
Ints: TypeAlias = NDArray[np.int64]
Bits: TypeAlias = NDArray[np.uint64]


def parse_numbers(joined: str | None) -> Ints:
    """Parse what `group_concat` gave: many times faster than a row for each number."""
    return np.fromstring(joined, dtype=np.int64, sep=",") if joined else np.empty(0, np.int64)
