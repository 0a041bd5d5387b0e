"""Disk: one that becomes full during a write, and has room again later."""

from __future__ import annotations

import json
import random
import sys
from functools import partial
from pathlib import Path

from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.schema import CONVERSATION
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from scripts.campaign.report import Counts, Minimum, Report
from scripts.campaign.workplace import Running, environ_of, make_project, run_rounds
from tests.fakes.builders import conversation
from tests.faults.checks import look_for
from tests.faults.small_disk import CannotMount, mount_small_disk

LONGEST = 60  # seconds that a disk takes to be full
READING = (("sessions", "list"), ("store", "info"), ("doctor",))


async def fill_disks(folder: Path, rounds: int, chance: random.Random, report: Report) -> None:
    """Fill small disks, and make room on them again."""
    try:
        with mount_small_disk(folder / "probe"):
            pass
    except CannotMount as error:
        print(f"FULL DISKS SKIPPED: {error}", file=sys.stderr)
        report.add("disk", Counts(skipped=str(error)))
        return
    played = [
        partial(play_round, folder / str(number), random.Random(chance.random()))
        for number in range(rounds)
    ]
    counts = await run_rounds(played)
    report.add("disk", counts, Minimum(acknowledged=rounds))


async def play_round(folder: Path, chance: random.Random) -> Counts:
    """Write until the disk is full, look and ask then, make room, and ask once more."""
    counts, project = Counts(), make_project(folder)
    with mount_small_disk(folder / "disk", f"{chance.randint(1_500, 3_000)}k") as disk:
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(chance.randint(300_000, 500_000)))
        env = environ_of(folder, RAGFORGE_STORE=str(disk / "store.db"))
        store = await open_sqlite(disk / "store.db", WORDS, REDACTOR)
        await store.records.put(CONVERSATION, conversation(uuid="c"))
        await store.close()
        writer = Running(
            ["tests.faults.writer", "turns", str(disk / "store.db"), "c", "w"], project, env
        )
        await writer.end(seconds=LONGEST)
        acknowledged = [line for line in writer.printed.splitlines() if len(line) == 36]
        if "StoreFull" not in writer.errors:
            counts.problems.append(f"{folder.name}: a writer ended with {writer.errors[-300:]!r}")

        for words in (("ask", "--new", "--json", "Is there room?"), *READING):
            running = Running(["ragforge", *words], project, env)
            code = await running.end(seconds=LONGEST)
            line = f"{folder.name}: {words[0]} on a full disk ended with {code}"
            counts.note_errors(running.printed + running.errors, line)
            if words[0] == "ask" and code == 0:
                acknowledged += ["Is there room?", json.loads(running.printed)["content"]]
            elif code and not (running.errors + running.printed).strip():
                counts.problems.append(f"{line} without a sentence")

        ballast.unlink()
        running = Running(["ragforge", "ask", "--new", "--json", "And now?"], project, env)
        if await running.end(seconds=LONGEST) == 0:
            acknowledged += ["And now?", json.loads(running.printed)["content"]]
        else:
            counts.problems.append(f"{folder.name}: with room again: {running.errors[-300:]}")
        kept = await look_for(disk / "store.db", acknowledged)
    counts.acknowledged = len(acknowledged)
    counts.lost, counts.doubled = len(kept.lost), len(kept.doubled)
    counts.problems += kept.problems
    return counts
