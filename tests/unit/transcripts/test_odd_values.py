"""Odd values: whatever stands in a field, a reader goes on."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragforge.domain.text import check_text, to_json
from ragforge.transcripts.claude_code import CLAUDE_CODE
from ragforge.transcripts.codex import CODEX
from ragforge.transcripts.source import Source
from tests.fakes.transcripts import claude_code, codex
from tests.fakes.transcripts.files import write_lines
from tests.fakes.transcripts.keeping import Keeper
from tests.fakes.transcripts.odd import make_odd

LINES: list[tuple[Source, Callable[[], list[dict[str, Any]]]]] = [
    (CLAUDE_CODE, lambda: claude_code.make_rich_session().lines),
    (CODEX, lambda: codex.make_rich_session().lines),
]


def check(keeper: Keeper) -> None:
    """All that is stored can be stored."""
    assert keeper.double == []
    for kept in keeper.conversations.values():
        for message in kept.messages:
            check_text("content", message.content)
            check_text("reasoning", message.reasoning)
            assert message.timestamp.utcoffset() is not None
            for call in message.tool_calls:
                check_text("name", call.tool_name)
                to_json("arguments", call.arguments)
                to_json("result", call.result.result if call.result else None)


@pytest.mark.parametrize(("source", "make"), LINES, ids=[source.name for source, _ in LINES])
def test_odd_values_in_lines_never_stop_a_reader(
    source: Source, make: Callable[[], list[dict[str, Any]]], tmp_path: Path
) -> None:
    lines = make()
    for seed in range(60):
        dice = random.Random(seed)
        odd = [make_odd(line, dice) if dice.random() < 0.5 else line for line in lines]
        path = write_lines(tmp_path / f"rollout-{seed}.jsonl", odd)
        check(Keeper().take_in(source, path).take_in(source, path))
