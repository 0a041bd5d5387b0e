"""The campaign: its short form finds nothing lost, and it does not trust itself blindly."""

from __future__ import annotations

import asyncio
import json
import random
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from scripts.campaign import __main__ as command
from scripts.campaign.kills import NAMES, kill_often
from scripts.campaign.provider_reply import NoteWriter
from scripts.campaign.report import OWN, Counts, Minimum, Report
from scripts.campaign.run import FAMILIES, noting_crashes, run_campaign
from scripts.campaign.server_copies import kill_copies
from scripts.campaign.traces import Trace
from scripts.campaign.victims import Victim
from scripts.campaign.watched import PARTS, find, watch
from scripts.campaign.workplace import run_rounds
from tests.fakes.http_server import Answered, Asked

KILLS_EACH = 4
COPIES_EACH = 1


@pytest.mark.long
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("name", [*NAMES, *(name for name in FAMILIES if name != "server")])
async def test_a_short_campaign_finds_nothing_lost_duplicated_or_pretended(
    name: str, tmp_path: Path
) -> None:
    report = await run_campaign(
        tmp_path, kills=KILLS_EACH * len(NAMES), damaged=3, rounds=1, seed=16, only=name
    )

    counts = report.parts[name]
    if counts.skipped:
        pytest.skip(counts.skipped)
    assert counts.rounds > 0
    assert (counts.lost, counts.doubled, counts.half_written, counts.tracebacks) == (0, 0, 0, 0)
    assert counts.problems == []
    assert report.shortfalls == []
    assert not report.failed


@pytest.mark.long
@pytest.mark.timeout(1_800)
async def test_a_campaign_whose_provider_crashes_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(self: NoteWriter, asked: Asked) -> Answered:
        raise IndexError("the provider is broken")

    monkeypatch.setattr(NoteWriter, "_reply", crash)

    report = await run_campaign(
        tmp_path, kills=len(NAMES), damaged=0, rounds=0, seed=16, only="ask"
    )

    assert report.failed
    assert "the provider is broken" in report.parts[OWN].problems[0]


@pytest.mark.long
@pytest.mark.neo4j
@pytest.mark.timeout(1_800)
async def test_a_copy_to_a_server_or_back_that_was_killed_is_finished_by_the_next(
    neo4j_url: str, tmp_path: Path
) -> None:
    counts = await kill_copies(tmp_path, neo4j_url, COPIES_EACH, random.Random(17))

    assert counts.rounds == 2 * COPIES_EACH
    assert counts.problems == []


def post(url: str, text: str) -> None:
    body = json.dumps({"messages": [{"role": "user", "content": text}]}).encode()
    urllib.request.urlopen(urllib.request.Request(f"{url}/v1/chat", body), timeout=60).read()


async def test_a_crash_of_the_fake_provider_is_noted() -> None:
    report = Report(seed=1)

    with noting_crashes(report):
        async with NoteWriter() as server:
            with pytest.raises(OSError):  # noqa: PT011 - the connection breaks, one way or another
                await asyncio.to_thread(post, server.url, "a question without a mark")

    assert report.failed
    assert "IndexError" in report.parts[OWN].problems[0]
    assert "provider_reply.py" in report.parts[OWN].problems[0]


async def test_the_fake_provider_knows_what_it_is_asked() -> None:
    report = Report(seed=1)

    with noting_crashes(report):
        async with NoteWriter() as server:
            await asyncio.to_thread(post, server.url, "Please write note m7 for me.")
            with pytest.raises(urllib.request.HTTPError, match="404"):  # type: ignore[attr-defined]
                await asyncio.to_thread(urllib.request.urlopen, f"{server.url}/v1/models")

    assert server.heard == {"m7"}
    assert not report.failed


async def test_a_check_that_crashes_is_a_problem() -> None:
    async def crash() -> Counts:
        raise KeyError("uuid")

    counts = await run_rounds([crash])

    assert counts.failed
    assert "KeyError: 'uuid'" in counts.problems[0]


class Idle(Victim):
    """A victim whose work is never seen."""

    name = "ask"

    def choose_size(self, chance: random.Random) -> int:
        return 1

    async def fill_round(
        self, folder: Path, kills: int, chance: random.Random, counts: Counts
    ) -> None:
        folder.mkdir(parents=True)


async def test_a_kind_that_cannot_be_prepared_fails_the_campaign(tmp_path: Path) -> None:
    report = Report(seed=1)

    await kill_often(Idle(), tmp_path, 4, random.Random(1), report)

    assert report.failed
    assert "ask does no work" in report.parts["ask"].problems[0]


@pytest.mark.parametrize("missed", ["kills", "inside", "acknowledged"])
def test_a_minimum_that_is_missed_fails_the_campaign_and_is_named(
    missed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = Counts(kills=4, inside=3, acknowledged=20)
    setattr(counts, missed, 1)
    report = Report(seed=1)
    report.add("vacuum", counts, Minimum(kills=4, inside=2, acknowledged=20))

    async def pretend(*_: object, **__: object) -> Report:
        return report

    monkeypatch.setattr(command, "run_campaign", pretend)
    monkeypatch.setattr("sys.argv", ["campaign", "--report", str(tmp_path / "report.json")])

    assert command.main() == 1
    said = capsys.readouterr()
    assert f"MISSED: vacuum: {missed} is 1, but must be at least" in said.err
    assert "1 (≥ " in said.out
    saved = json.loads((tmp_path / "report.json").read_text())
    assert (saved["failed"], len(saved["shortfalls"])) == (True, 1)


def test_minimums_that_are_reached_do_not_fail_the_campaign() -> None:
    report = Report(seed=1)
    counts = Counts(kills=4, inside=2, acknowledged=20)
    report.add("vacuum", counts, Minimum(kills=4, inside=2, acknowledged=20))

    assert not report.failed


def write_trace(folder: Path, *lines: str) -> Trace:
    trace = Trace(folder, "vacuum")
    trace.path.write_text("".join(f"{line}\n" for line in ("begins run 0.25 100", *lines)))
    return trace


def test_a_trace_tells_which_part_of_the_work_a_kill_hit(tmp_path: Path) -> None:
    begins, ends = "begins _run_vacuum 0.5 101", "ends _run_vacuum 0.75 103"
    before = write_trace(tmp_path)
    inside = write_trace(tmp_path, begins)
    between = write_trace(tmp_path, begins, ends)
    later = write_trace(tmp_path, begins, ends, "begins shrink_log 0.8 104")

    found = [trace.unfinished for trace in (before, inside, between, later)]
    assert found == ["", "_run_vacuum", "", "shrink_log"]
    assert between.measure().work == {"cpu": 0.25, "wall": 2.0}


def test_the_functions_of_all_kinds_that_are_watched_exist() -> None:
    assert set(PARTS) == set(NAMES)
    for parts in PARTS.values():
        for part in parts:
            place, name = find(part)
            assert callable(getattr(place, name))


async def test_a_watched_function_notes_its_begin_and_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from ragforge.jobs.worker import Worker

    noted: list[tuple[str, str]] = []
    monkeypatch.setattr(Worker, "drain", Worker.drain)  # so that it is put back
    watch("ragforge.jobs.worker:Worker.drain", lambda *note: noted.append(note))
    broken: Any = object()

    with pytest.raises(AttributeError):
        await Worker.drain(broken)

    assert noted == [("begins", "drain"), ("ends", "drain")]
