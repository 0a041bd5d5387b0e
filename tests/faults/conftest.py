"""Fixtures of faults: a disk that is soon full, and commits that wait for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from ragforge.adapters.stores.sqlite import database
from tests.faults.small_disk import CannotMount, mount_small_disk

Effort: TypeAlias = Callable[[int, int], int]


@pytest.fixture(autouse=True)
def durable_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commit as the product does."""
    monkeypatch.setattr(database, "SYNCHRONOUS", "FULL")


@pytest.fixture
def effort(pytestconfig: pytest.Config) -> Effort:
    """How often something is tried: few times, or with --thorough many times."""
    is_thorough = bool(pytestconfig.getoption("--thorough"))
    return lambda few, many: many if is_thorough else few


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    try:
        with mount_small_disk(tmp_path / "disk") as place:
            yield place
    except CannotMount as error:
        pytest.skip(str(error))
