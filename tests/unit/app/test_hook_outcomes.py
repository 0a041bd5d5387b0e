"""How each hook call ended is kept in a small file, and summed up in one sentence."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from ragforge.app.hook import outcomes as outcomes_module
from ragforge.app.hook.outcomes import (
    FILE_NAME,
    MAX_BYTES,
    MAX_WHY,
    HookOutcome,
    Result,
    describe_failure,
    read_outcomes,
    record_outcome,
)
from ragforge.app.hook.report import count_outcomes, describe_hooks, read_hook_report
from ragforge.errors import StoreBusy


def outcome(number: float = 0, result: Result = "given", **fields: object) -> HookOutcome:
    made = HookOutcome(number, "codex", "prompt", result, 120, 0 if result != "given" else 900)
    return made._replace(**fields)


def test_outcomes_are_read_as_they_were_recorded_the_oldest_first(tmp_path: Path) -> None:
    recorded = [outcome(2.5), outcome(1.5, "failed", why="store is locked\n!"), outcome(3.5)]
    for one in recorded:
        record_outcome(tmp_path / "state", one)

    assert read_outcomes(tmp_path / "state", 10) == sorted(recorded)
    assert read_outcomes(tmp_path / "state", 1) == [outcome(3.5)]


def test_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    record_outcome(tmp_path / "state", outcome(1.0))

    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "state" / FILE_NAME).stat().st_mode) == 0o600


def test_the_last_hundreds_are_kept_in_files_that_do_not_grow(tmp_path: Path) -> None:
    for number in range(3_000):
        record_outcome(tmp_path, outcome(float(number)))

    found = read_outcomes(tmp_path, 10_000)
    assert [one.when for one in found] == [float(n) for n in range(3_000 - len(found), 3_000)]
    assert 300 < len(found) < 2_000
    sizes = [path.stat().st_size for path in tmp_path.iterdir()]
    assert len(sizes) == 2
    assert max(sizes) < MAX_BYTES + 200


def test_lines_that_are_damaged_are_left_out(tmp_path: Path) -> None:
    record_outcome(tmp_path, outcome(1.0))
    with (tmp_path / FILE_NAME).open("a") as file:
        file.write('[1, "codex"\n5\n["x", "codex", "prompt", "given", 1]\n\xff\n')
        file.write('[1.0, "codex", "prompt", "odd", 1]\n')
    record_outcome(tmp_path, outcome(2.0))

    assert [one.when for one in read_outcomes(tmp_path, 10)] == [1.0, 2.0]


def test_what_cannot_be_written_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "state").touch()

    record_outcome(tmp_path / "state", outcome(1.0))

    assert read_outcomes(tmp_path / "state", 10) == []


def test_another_process_that_renamed_the_file_is_noticed(tmp_path: Path) -> None:
    record_outcome(tmp_path, outcome(1.0))
    file = outcomes_module._open(tmp_path / FILE_NAME)
    (tmp_path / FILE_NAME).rename(tmp_path / f"{FILE_NAME}.1")
    record_outcome(tmp_path, outcome(2.0))

    outcomes_module._rename(tmp_path / FILE_NAME, file)

    assert [one.when for one in read_outcomes(tmp_path, 10)] == [1.0, 2.0]


def test_a_reason_is_short_and_without_secrets(tmp_path: Path) -> None:
    record_outcome(tmp_path, outcome(1.0, "failed", why="x" * 5_000))
    token = "ghp_" + "a1B2" * 9

    assert read_outcomes(tmp_path, 1)[0].why == "x" * MAX_WHY
    assert describe_failure(StoreBusy("the store is locked")) == "the store is locked"
    assert token not in describe_failure(ValueError(f"token {token}"))
    assert describe_failure(KeyError()) == "KeyError: "


def test_the_last_hundred_are_summed_up_in_one_sentence() -> None:
    outcomes = [outcome(1.0)] * 80
    outcomes += [outcome(2.0, "empty", why="nothing relevant")] * 14
    outcomes += [outcome(3.0, "excluded", why="not a project")] * 2
    outcomes += [outcome(4.0, "late", why="searching", chars=90)] * 2
    outcomes += [outcome(5.0, "late", why="opening the store")]
    outcomes += [outcome(6.0, "failed", why="store is locked")]

    report = count_outcomes(outcomes, 4_000)

    assert describe_hooks(report) == (
        "Hooks, last 100: 80 answered, 14 had nothing to say, 2 in folders that get nothing, "
        "3 were late (deadline 4,000 ms; 2 gave what had been found; searching (2), "
        "opening the store), 1 failed: store is locked"
    )
    assert report.median_ms == 120


def test_without_calls_nothing_is_said(tmp_path: Path) -> None:
    report = read_hook_report(tmp_path, 4_000)

    assert describe_hooks(report) == ""
    assert report.median_ms is None


@pytest.mark.parametrize(
    ("late", "calls", "many"), [(2, 4, False), (3, 4, True), (9, 100, False), (10, 100, True)]
)
def test_a_few_late_ones_are_not_many(late: int, calls: int, many: bool) -> None:
    outcomes = [outcome(1.0, "late")] * late + [outcome(1.0)] * (calls - late)

    assert count_outcomes(outcomes, 4_000).has_many_late is many
