"""Odd values: whatever is in a field, a reader continues."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from ragforge.transcripts.cline import CLINE
from ragforge.transcripts.gemini import GEMINI
from ragforge.transcripts.goose import GOOSE
from ragforge.transcripts.source import TranscriptSource
from tests.fakes.transcripts import cline, gemini, goose
from tests.fakes.transcripts.files import Line, write_json, write_lines
from tests.fakes.transcripts.keeping import Keeper
from tests.fakes.transcripts.odd import check_storable, make_odd
from tests.fakes.transcripts.rich import RICH


@pytest.mark.parametrize(("source", "make"), RICH, ids=[source.name for source, _ in RICH])
def test_odd_values_in_lines_never_stop_a_reader(
    source: TranscriptSource, make: Callable[[], list[Line]], tmp_path: Path
) -> None:
    lines = make()
    for seed in range(40):
        dice = random.Random(seed)
        odd = [make_odd(line, dice) if dice.random() < 0.5 else line for line in lines]
        path = write_lines(tmp_path / f"rollout-{seed}.jsonl", odd)
        check_storable(Keeper().take_in(source, path).take_in(source, path))


def test_odd_values_in_whole_files_never_stop_a_reader(tmp_path: Path) -> None:
    whole = {"sessionId": "g1", "messages": gemini.make_rich_session().lines[1:]}
    chats = tmp_path / "chats"
    for seed in range(40):
        dice = random.Random(seed)
        path = write_json(chats / f"session-{seed}.json", make_odd(whole, dice, 8))
        check_storable(Keeper().take_in(GEMINI, path))
        path = write_json(tmp_path / str(seed) / "ui_messages.json", _make_odd_task(dice))
        check_storable(Keeper().take_in(CLINE, path))


def _make_odd_task(dice: random.Random) -> object:
    return make_odd(cline.make_rich_task(), dice, 8)


def test_odd_values_in_the_rows_of_goose_never_stop_the_reader(tmp_path: Path) -> None:
    one = goose.Goose(tmp_path)
    goose.fill_rich_session(one)
    rows = one.connection.execute("SELECT id, content_json FROM messages").fetchall()
    for seed in range(40):
        dice = random.Random(seed)
        for number, content in rows:
            odd = json.dumps(make_odd(json.loads(content), dice, 2))
            one.connection.execute(
                "UPDATE messages SET content_json = ? WHERE id = ?", [odd, number]
            )
        check_storable(Keeper().take_in(GOOSE, one.path))
