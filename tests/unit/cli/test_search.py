"""`ragforge search`: what is asked for, and how hits look."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ragforge.domain.conversations import Message, ToolCall, ToolResult
from ragforge.domain.hits import SummaryHit, TurnHit
from ragforge.domain.turns import Turn
from tests.fakes.builders import summary
from tests.unit.cli.conftest import FakeApp, Ragforge

MOMENT = datetime(2025, 12, 9, 14, 30, tzinfo=UTC)
USUAL = {
    "semantic": True,
    "max_results": 5,
    "include_notes": True,
    "levels": (0, 1, 2),
    "since": None,
    "until": None,
    "conversation": None,
    "everywhere": False,
}


def hit(answer: str = "The lease is renewed.", *results: str) -> TurnHit:
    user = Message("user", "How are leases kept?", uuid="t1", timestamp=MOMENT, turn_index=0)
    calls = tuple(ToolCall("grep_files", result=ToolResult(True, text)) for text in results)
    turn = Turn(user, (Message("assistant", answer, tool_calls=calls),))
    return TurnHit(turn, "ab12cd34-0000", 0.8, 1.0, ("words", "meaning"), 0.756)


def summary_hit() -> SummaryHit:
    made = summary(
        "ab12cd34-0000",
        0,
        12,
        uuid="s1",
        conversation_summary="Leases are renewed by a thread.",
        created_at=MOMENT,
    )
    return SummaryHit(made, 0.6, 0.7, ("words",), 0.5)


def asked(ragforge: Ragforge, app: FakeApp, *options: str) -> dict[str, Any]:
    """Return what the application was asked for in addition to the query."""
    assert ragforge("search", "--in", "memory", "lease", *options).code == 0
    [(_, query, wanted)] = app.calls
    assert query == "lease"
    assert isinstance(wanted, dict)
    return wanted


def test_search_shows_date_session_place_score_signals_question_and_snippet(
    ragforge: Ragforge, app: FakeApp
) -> None:
    app.hits = [hit()]
    shown = ragforge("search", "--in", "memory", "lease", "-k", "7", "--all")
    assert app.calls == [("search", "lease", USUAL | {"max_results": 7, "everywhere": True})]
    assert shown.out == (
        "2025-12-09 14:30  ab12cd34  turn 0  0.76  words, meaning\n"
        "  How are leases kept?\n    The lease is renewed.\n    src/lease.py: changed since\n"
    )


def test_search_shows_summaries_with_the_turns_they_are_of(
    ragforge: Ragforge, app: FakeApp
) -> None:
    app.hits = [summary_hit()]
    assert ragforge("search", "--in", "memory", "lease").out == (
        "2025-12-09 14:30  ab12cd34  summary 1 of turns 0-12  0.50  words\n"
        "    Leases are renewed by a thread.\n    src/lease.py: changed since\n"
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
    app.hits = [hit(), summary_hit()]
    found = json.loads(ragforge("search", "--in", "memory", "lease", "--json").out)
    assert found == {
        "query": "lease",
        "hits": [
            {
                "type": "turn",
                "level": 0,
                "conversation_id": "ab12cd34-0000",
                "agent": "ragforge",
                "timestamp": "2025-12-09T14:30:00.000+00:00",
                "score": 0.756,
                "confidence": 1.0,
                "found_by": ["words", "meaning"],
                "aged": ["src/lease.py: changed since"],
                "turn_id": "t1",
                "turn_index": 0,
                "author": None,
                "question": "How are leases kept?",
                "answer": "The lease is renewed.",
            },
            {
                "type": "summary",
                "level": 1,
                "conversation_id": "ab12cd34-0000",
                "agent": "ragforge",
                "timestamp": "2025-12-09T14:30:00.000+00:00",
                "score": 0.5,
                "confidence": 0.7,
                "found_by": ["words"],
                "aged": ["src/lease.py: changed since"],
                "summary_id": "s1",
                "start_turn_index": 0,
                "end_turn_index": 12,
                "summary": "Leases are renewed by a thread.",
                "actions": "",
                "findings": [],
                "files": [],
                "topics": [],
                "made_by": "extractive",
            },
        ],
    }


def test_a_search_that_finds_nothing_says_so_on_stderr(ragforge: Ragforge, app: FakeApp) -> None:
    shown = ragforge("search", "--in", "memory", "lease")
    assert (shown.code, shown.out, shown.err) == (0, "", "Nothing found. Try --all.\n")


def test_a_session_a_level_and_only_words_can_be_requested(
    ragforge: Ragforge, app: FakeApp
) -> None:
    options = ("--session", "ab12", "--level", "2", "--words")
    wanted = {"conversation": "ab12", "levels": (2,), "include_notes": False, "semantic": False}
    assert asked(ragforge, app, *options) == USUAL | wanted


def test_level_0_are_the_turns_themselves(ragforge: Ragforge, app: FakeApp) -> None:
    assert asked(ragforge, app, "--level", "0") == USUAL | {"levels": (0,), "include_notes": False}


def test_days_are_whole_days_here(ragforge: Ragforge, app: FakeApp) -> None:
    wanted = asked(ragforge, app, "--since", "2025-12-09", "--until", "2025-12-09")
    assert wanted["since"] == datetime(2025, 12, 9).astimezone()
    day = wanted["until"] - wanted["since"]
    assert timedelta(hours=22) < day < timedelta(hours=26)
    assert wanted["until"].time() == datetime.max.time()


def test_moments_keep_their_offset(ragforge: Ragforge, app: FakeApp) -> None:
    wanted = asked(ragforge, app, "--since", "2025-12-09T15:30+01:00")
    assert wanted["since"] == MOMENT


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", " "),
        ("search", "x", "--in", "nowhere"),
        ("search", "x", "--in", "memory", "--since", "yesterday"),
        ("search", "x", "--in", "memory", "--until", "2025-13-40"),
        ("search", "x", "--in", "memory", "--level", "3"),
        ("search", "x", "--words"),
        ("search", "x", "--since", "2025-12-09"),
    ],
)
def test_a_search_that_makes_no_sense_is_misuse(
    ragforge: Ragforge, app: FakeApp, arguments: tuple[str, ...]
) -> None:
    assert ragforge(*arguments).code == 2
    assert app.calls == []


def test_a_path_that_is_not_there_is_an_error(ragforge: Ragforge) -> None:
    shown = ragforge("search", "lease", "--path", "nosuch")
    assert shown.code == 1
    assert "does not exist" in shown.err
