"""A first reading by another process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from ragforge.app.features import jobs
from ragforge.app.features.code import Code
from ragforge.brain.ingestion import progress


@asynccontextmanager
async def being_read_elsewhere(code: Code, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """Let a project, however small, be held by a process that has read none of it yet."""
    await code.brain.begin()
    name = progress.name_ingestion_lock(code.brain.project_id)
    holder = code.brain.ingester.holder
    with monkeypatch.context() as patch:
        patch.setattr(jobs, "FEW_FILES", 0)
        patch.setattr(code.automatic_reading, "detaches", True)  # none is started: one reads
        async with progress.hold_lock(code.brain.store.locks, name, holder):
            yield
