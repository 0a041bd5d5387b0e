"""Moving everything to another engine with the command, whatever interrupts it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ragforge.domain.conversation_bundle import Bundle
from ragforge.errors import CopyIncomplete, StoreUnavailable
from ragforge.memory import store_copy as transfer
from ragforge.memory.store_copy import CopyProgress, copy_store
from ragforge.ports.store import Archive, list_record_kinds
from tests.fakes.copying import everything, read_bookmark
from tests.fakes.engines import Engines
from tests.fakes.rich import fill
from tests.fakes.zygote import run_module

PAIRS = [
    pytest.param("sqlite", "sqlite"),
    pytest.param("sqlite", "neo4j", marks=pytest.mark.neo4j),
    pytest.param("neo4j", "sqlite", marks=pytest.mark.neo4j),
]


class BreaksOff:
    """A destination that stops answering after this many writes."""

    def __init__(self, archive: Archive, writes: int) -> None:
        self._archive = archive
        self._left = writes

    def __getattr__(self, name: str) -> object:
        return getattr(self._archive, name)

    async def write(self, *arguments: object) -> None:
        if self._left == 0:
            raise StoreUnavailable("the connection is gone")
        self._left -= 1
        await self._archive.write(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(("source", "target"), PAIRS)
async def test_the_command_copies_everything_to_another_store(
    engines: Engines, tmp_path: Path, source: str, target: str
) -> None:
    original = await engines.empty(source)
    await fill(original)
    expected = await everything(original)
    start = engines.location(source)
    if target == "neo4j":
        await engines.empty(target)
    end = engines.location(target) if target == "neo4j" else str(tmp_path / "copy.db")
    await engines.close()

    arguments = ["store", "copy", "--from", start, "--to", end, "--json"]
    environ = {**os.environ, "RAGFORGE_STORE": str(tmp_path / "unused.db")}
    done = run_module("ragforge", *arguments, env=environ)

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["counts"] == {kind: len(expected[kind]) for kind in list_record_kinds()}
    assert not report["resumed"]
    copied = await engines.open_at(end)
    assert await everything(copied) == expected


async def test_a_copy_that_is_interrupted_anywhere_continues_and_ends_the_same(
    engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "PAGE", 3)
    original = await engines.empty("sqlite")
    await fill(original)
    expected = await everything(original)
    pages = sum(-(-len(records) // 3) for records in expected.values())

    for writes in range(pages):
        target = await engines.empty("sqlite")
        fragile = BreaksOff(target.archive, writes)
        with pytest.raises(StoreUnavailable):
            await copy_store(original.archive, fragile, "copy", lambda _: None)  # type: ignore[arg-type]
        seen: list[CopyProgress] = []

        report = await copy_store(original.archive, target.archive, "copy", seen.append)

        assert report.resumed == (writes > 0)
        assert await everything(target) == expected
        assert len([step for step in seen if step.done > 0]) <= pages - writes + len(
            list_record_kinds()
        )
        assert await read_bookmark(target, "copy") is None


async def test_a_copy_that_lacks_records_is_a_failure(engines: Engines) -> None:
    original = await engines.empty("sqlite")
    await fill(original)
    target = await engines.empty("sqlite")

    class Forgetful(BreaksOff):
        async def write(self, records: Bundle) -> None:  # type: ignore[override]
            await self._archive.write({k: rows for k, rows in records.items() if k != "job"})

    with pytest.raises(CopyIncomplete, match=r"of \d job records"):
        await copy_store(original.archive, Forgetful(target.archive, 0), "copy", lambda _: None)  # type: ignore[arg-type]
