"""Limits: how much of a project is too much."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Larger files, and more of them, are left out."""

    max_bytes: int = 1_000_000
    max_files: int = 200_000
