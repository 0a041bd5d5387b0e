"""Limits: how much of a project is too much."""

from __future__ import annotations

from dataclasses import dataclass

NOTEBOOK = ".ipynb"
NOTEBOOKS_LARGER = 10
"""What came out of a notebook's cells makes it large, and is not kept."""


@dataclass(frozen=True, slots=True)
class FileLimits:
    """Larger files, and more of them, are left out."""

    max_bytes: int = 1_000_000
    max_files: int = 200_000

    def most_bytes(self, path: str) -> int:
        """Return how large this file may be."""
        return self.max_bytes * (NOTEBOOKS_LARGER if path.endswith(NOTEBOOK) else 1)
