"""`ragforge search`: what is asked for, and how hits look."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from ragforge.domain.conversations import Message, ToolCall, ToolResult
from ragforge.domain.turns import Turn
from tests.unit.cli.conftest import FakeApp, Ragforge

MOMENT = datetime(2025, 12, 9, 14, 30, tzinfo=UTC)


def hit(answer: str = "The lease is renewed.", *results: str) -> SimpleNamespace:
    user = Message("user", "How are leases kept?", uuid="t1", timestamp=MOMENT, turn_index=0)
    calls = tuple(ToolCall("grep_files", result=ToolResult(True, text)) for text in results)
    turn = Turn(user, (Message("assistant", answer, tool_calls=calls),))
    return SimpleNamespace(
        turn=turn,
        conversation_id="ab12cd34-0000",
        score=0.756,
        confidence=1.0,
        found_by=("words",),
    )


def test_search_shows_date_session_score_question_and_snippet(
    ragforge: Ragforge, app: FakeApp
) -> None:
    app.hits = [hit()]
    shown = ragforge("search", "--in", "memory", "lease", "-k", "7", "--everywhere")
    assert app.calls == [("search", "lease", 7, True)]
    assert shown.out == (
        "2025-12-09 14:30  ab12cd34  0.76\n  How are leases kept?\n    The lease is renewed.\n"
    )


def test_search_shows_the_tool_result_when_the_words_are_only_there(
    ragforge: Ragforge, app: FakeApp
) -> None:
    app.hits = [hit("Done.", "def renew_lock(): ...")]
    assert "def renew_lock" in ragforge("search", "--in", "memory", "renew_lock").out


def test_search_marks_the_words_in_a_terminal(
    ragforge: Ragforge, app: FakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    app.hits = [hit()]
    assert "\x1b[33mlease\x1b[0m" in ragforge("search", "--in", "memory", "lease").out


def test_search_in_json_has_stable_keys(ragforge: Ragforge, app: FakeApp) -> None:
    app.hits = [hit()]
    found = json.loads(ragforge("search", "--in", "memory", "lease", "--json").out)
    assert found == {
        "query": "lease",
        "hits": [
            {
                "conversation_id": "ab12cd34-0000",
                "turn_id": "t1",
                "turn_index": 0,
                "timestamp": "2025-12-09T14:30:00.000+00:00",
                "score": 0.756,
                "confidence": 1.0,
                "found_by": ["words"],
                "question": "How are leases kept?",
                "answer": "The lease is renewed.",
            }
        ],
    }


def test_a_search_that_finds_nothing_says_so_beside_stdout(
    ragforge: Ragforge, app: FakeApp
) -> None:
    shown = ragforge("search", "--in", "memory", "lease")
    assert (shown.code, shown.out, shown.err) == (0, "", "Nothing found. Try --everywhere.\n")


@pytest.mark.parametrize("arguments", [("search", " "), ("search", "x", "--in", "nowhere")])
def test_a_search_for_nothing_or_nowhere_is_misuse(
    ragforge: Ragforge, app: FakeApp, arguments: tuple[str, ...]
) -> None:
    assert ragforge(*arguments).code == 2
    assert app.calls == []
