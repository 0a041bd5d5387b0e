"""Limits: how large a file, and how many files, are still read."""

from __future__ import annotations

from ragforge.records import dataclass

NOTEBOOK = ".ipynb"


@dataclass(frozen=True, slots=True)
class FileLimits:
    """Larger files, and more of them, are left out."""

    max_bytes: int = 1_000_000
    max_files: int = 200_000
    notebook_factor: int = 10
    """The outputs in a notebook make it large; they are not kept."""

    def is_too_large(self, path: str, size: int) -> bool:
        """Tell whether a file is larger than one of its kind may be."""
        return size > self.max_bytes and (
            not path.endswith(NOTEBOOK) or size > self.max_bytes * self.notebook_factor
        )
