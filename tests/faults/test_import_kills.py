"""kill -9 during an import: either all of the conversation is stored, or none of it."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from ragforge.domain.conversations import ConversationFilter
from ragforge.domain.schema import CONVERSATION
from ragforge.memory.export_format.writer import build_document, to_bytes
from ragforge.ports.store import Store
from tests.conftest import Effort
from tests.fakes.copying import everything
from tests.fakes.engines import Engines, counts
from tests.faults.long_conversation import make_long_conversation

TURNS = (100, 400)
KILLS = (2, 12)
"""How many without --thorough, and with it."""
_IMPORT = """
import asyncio, sys
from pathlib import Path
from ragforge.app.wiring.stores import open_store
from ragforge.config import load_settings
from ragforge.memory.export_format.reader import import_conversation

async def main(place, file):
    store = await open_store(load_settings(Path.cwd(), environ={}).settings, place)
    data = Path(file).read_bytes()
    print("begins", flush=True)
    await import_conversation(store.archive, data)
    print("done", flush=True)
    await store.close()

asyncio.run(main(*sys.argv[1:]))
"""


def start(place: str, file: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _IMPORT, place, str(file)],
        cwd=file.parent,
        env={name: value for name, value in os.environ.items() if "RAGFORGE_" not in name},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


async def waits(process: subprocess.Popen[str], chance: random.Random, usual: float) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "begins\n"
    await asyncio.sleep(chance.uniform(0, usual * 1.1))


def ended(process: subprocess.Popen[str]) -> tuple[str, str]:
    process.kill()
    return process.communicate()


@pytest.mark.timeout(600)
async def test_a_killed_import_leaves_everything_or_nothing(
    engine: str, engines: Engines, tmp_path: Path, effort: Effort
) -> None:
    file = tmp_path / "long.json"
    whole = make_long_conversation(effort(*TURNS))
    file.write_bytes(to_bytes(build_document(whole.to_records())))
    store = await engines.empty(engine)
    place = engines.location(engine)
    usual, expected = await _measured(place, file, store)
    chance = random.Random(20260101)
    outcomes: list[bool] = []
    for number in range(effort(*KILLS)):
        await store.records.delete(CONVERSATION, "long")
        empty = await counts(store)
        process = start(place, file)
        await waits(process, chance, usual if number else 0)  # the first one comes at once
        told, errors = ended(process)
        assert errors == ""
        await _settled(store)
        is_there = bool(
            await store.records.find(CONVERSATION, ConversationFilter(prefix="long"), 10)
        )
        outcomes.append(is_there)
        if "done" in told:
            assert is_there  # what was acknowledged stays
        if is_there:
            assert await everything(store) == expected
        else:
            assert await counts(store) == empty
            process = start(place, file)  # and can be imported after all
            told, errors = process.communicate()
            assert (told, errors) == ("begins\ndone\n", "")
    assert await everything(store) == expected
    assert False in outcomes  # some kills came before the end
    if engine == "sqlite":
        assert apsw.Connection(place).pragma("integrity_check") == "ok"


async def _measured(place: str, file: Path, store: Store) -> tuple[float, object]:
    """Import once undisturbed; return how long it took and what the store holds then."""
    loop = asyncio.get_running_loop()
    process = start(place, file)
    assert process.stdout is not None
    process.stdout.readline()
    begun = loop.time()
    assert process.stdout.readline() == "done\n", process.stderr and process.stderr.read()
    took = loop.time() - begun
    process.communicate()
    return took, await everything(store)


async def _settled(store: Store) -> None:
    """Wait until a server has noticed that the importer is gone: its locks are free then."""
    previous: dict[str, int] | None = None
    for _ in range(20):
        now = await counts(store)
        if now == previous:
            return
        previous = now
        await asyncio.sleep(0.25)
