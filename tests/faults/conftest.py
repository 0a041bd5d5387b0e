"""Fixtures of faults: a disk that is soon full, and commits that wait for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragforge.adapters.stores.sqlite import database
from tests.faults.small_disk import CannotMount, mount_small_disk


@pytest.fixture(autouse=True)
def durable_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commit as the product does."""
    monkeypatch.setattr(database, "SYNCHRONOUS", "FULL")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    try:
        with mount_small_disk(tmp_path / "disk") as place:
            yield place
    except CannotMount as error:
        pytest.skip(str(error))
