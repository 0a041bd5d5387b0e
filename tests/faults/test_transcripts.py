"""Imports of transcripts that are killed, that run at the same time, or while an agent writes.

In every case the store has what one import of the finished files gives. RAGFORGE_TEST_KILLS=200
kills as often as a campaign.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from ragforge.ports.store import Store
from ragforge.transcripts import source
from tests.fakes.copying import everything
from tests.fakes.engines import Engines
from tests.fakes.transcripts import claude_code, codex
from tests.fakes.transcripts.files import join_lines, write_lines
from tests.faults.transcript_importer import PIECE, take_in

KILLS = int(os.environ.get("RAGFORGE_TEST_KILLS", "3"))
ROOT = Path(__file__).parents[2]


def fill_home(home: Path) -> list[Path]:
    """Write sessions with every trap, forks of both agents, and a longer session."""
    first, other = claude_code.make_rich_session(), codex.make_rich_session()
    fork = first.fork("s2")
    fork.say("Once more, with feeling.")
    fork.answer("La la la.")
    again = other.fork("c2", forked_from_id="c1")
    again.begin_turn("turn-9")
    again.say("Once more, with feeling.")
    again.answer("La la la.")
    long = claude_code.Claude("s3")
    for number in range(30):
        long.say(f"Question {number}?")
        long.answer("I look.", claude_code.call(f"t{number}", "Bash", command="ls"))
        long.give_result(f"t{number}", f"file {number}\n" * 9)
        if number % 10 == 9:
            long.say(f"Rather not {number}.", after=f"s3-{4 * number // 2}")
    return [one.write(home) for one in (first, fork, long)] + [
        one.write(home) for one in (other, again)
    ]


async def read_facts(store: Store) -> dict[str, object]:
    found = await everything(store)
    kinds = ("conversation", "message", "tool_call", "tool_result", "branch", "forgotten")
    return {kind: found[kind] for kind in kinds}


async def import_cleanly(engines: Engines, home: Path) -> dict[str, object]:
    store = await engines.open_at(str(home.parent / "clean.db"))
    await take_in(store, home)
    facts = await read_facts(store)
    assert len(facts["conversation"]) > 5  # type: ignore[arg-type]
    return facts


def start(location: str, home: Path) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "tests.faults.transcript_importer", location, str(home)]
    return subprocess.Popen(
        line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def kill_somewhere(process: subprocess.Popen[str], chance: random.Random) -> bool:
    """Kill a process after some of its pieces; return whether it was done before."""
    assert process.stdout is not None
    for _ in range(chance.randrange(1, 12)):
        process.stdout.readline()
    try:
        process.wait(chance.uniform(0, 0.02))
    except subprocess.TimeoutExpired:
        process.kill()
    _, said = process.communicate()
    assert process.returncode in (0, -9), said
    return process.returncode == 0


@pytest.mark.timeout(3_600)
async def test_a_killed_import_continues_and_gives_what_a_clean_one_does(
    engines: Engines, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    fill_home(home)
    expected = await import_cleanly(engines, home)
    chance, kills, runs = random.Random(18), 0, 0
    while kills < KILLS:
        runs += 1
        location = str(tmp_path / f"killed-{runs}.db")
        while not kill_somewhere(start(location, home), chance):
            kills += 1
        assert await read_facts(await engines.open_at(location)) == expected
        await engines.close()


async def test_two_imports_at_once_give_what_one_does(engines: Engines, tmp_path: Path) -> None:
    home = tmp_path / "home"
    fill_home(home)
    expected = await import_cleanly(engines, home)
    location = str(tmp_path / "two.db")
    both = [start(location, home) for _ in range(2)]
    for process in both:
        assert process.communicate()[1] == ""
    assert await read_facts(await engines.open_at(location)) == expected


async def test_an_import_while_an_agent_writes_loses_and_duplicates_nothing(
    engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "PIECE_BYTES", PIECE)
    home, growing = tmp_path / "home", tmp_path / "growing"
    contents = {path.relative_to(home): path.read_bytes() for path in fill_home(home)}
    expected = await import_cleanly(engines, home)
    store = await engines.open_at(str(tmp_path / "growing.db"))
    chance = random.Random(18)

    async def write() -> None:
        for name, content in sorted(contents.items(), key=lambda one: "s2" in str(one[0])):
            place = growing / name
            place.parent.mkdir(parents=True, exist_ok=True)
            written = 0
            while written < len(content):
                end = written + chance.randrange(1, 4_000)  # in the middle of lines, too
                with place.open("ab") as file:
                    file.write(content[written:end])
                written = end
                await asyncio.sleep(0)

    writing = asyncio.create_task(write())
    while not writing.done():
        await take_in(store, growing)
        await asyncio.sleep(0)
    await writing
    await take_in(store, growing)
    assert await read_facts(store) == expected


async def test_growing_snapshots_of_a_session_give_what_the_last_one_does(
    engines: Engines, tmp_path: Path
) -> None:
    for name, session in (
        ("claude", claude_code.make_rich_session()),
        ("codex", codex.make_rich_session()),
    ):
        home, grown = tmp_path / name, tmp_path / f"{name}-grown"
        path = session.write(home)
        store = await engines.open_at(str(tmp_path / f"{name}.db"))
        await take_in(store, home)
        pieces = await engines.open_at(str(tmp_path / f"{name}-pieces.db"))
        place = grown / path.relative_to(home)
        for number in range(1, len(session.lines) + 1):
            write_lines(place, session.lines[:number])  # rewritten each time, as a copy is
            await take_in(pieces, grown)
        assert await read_facts(pieces) == await read_facts(store)
        assert join_lines(session.lines) == path.read_bytes()
