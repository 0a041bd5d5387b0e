"""Calls: what a tool was asked and gave, in a few words."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from ragforge.agent.events import ToolFinished
from ragforge.domain.receipts import Receipt, ReceiptItem, SearchReport
from ragforge.domain.text import Json
from ragforge.show.call_lines import (
    format_call,
    format_full_call,
    format_plan,
    format_receipt,
)
from ragforge.show.calls import format_duration, format_headline, format_outcome
from ragforge.show.screen import ASCII, Screen, Signs, choose_signs

DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,3 @@\n-old\n+new\n+newer\n same\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"regex": "def login", "pattern": "src/**"}, "def login in src/**"),
        ({"path": "src/login.py", "content": "long\ntext"}, "src/login.py"),
        ({"replace_all": False, "file_path": "/a.py", "old_string": "x"}, "/a.py"),
        ({"command": "make\ntest", "cwd": "web"}, "make test in web"),
        ({"query": "leases"}, "leases"),
        ({"limit": 3, "staged": True}, "3, True"),
        ({"items": [1, 2]}, ""),
        ({}, ""),
        ("not JSON", "not JSON"),
        (None, "null"),
    ],
)
def test_the_telling_argument_of_a_call(arguments: Json, told: str) -> None:
    assert format_headline(arguments) == told


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ({"matches": [{}], "total_matches": 12}, "12 matches"),
        ({"matches": [{}], "total_matches": 100, "truncated": True}, "100+ matches"),
        ({"matches": [{}], "total_matches": 1}, "1 match"),
        ({"files": ["a"], "total_files": 1}, "1 file"),
        ({"entries": []}, "0 entries"),
        ({"diff": DIFF, "path": "x.py"}, "+2 −1"),
        ({"items": [{"text": "a", "state": "done"}, {"text": "b"}]}, "1 of 2 done"),
        ({"exit_code": 1, "stdout": "x"}, "exit 1"),
        ({"exit_code": None, "timed_out": True}, "timed out"),
        ({"content": "a\nb", "startLine": 4, "endLine": 5}, "2 lines"),
        ({"output": "a\nb\nc"}, "3 lines"),
        ({"answer": "one"}, "1 line"),
        ({"unknown": 1}, ""),
        (["a", "b"], "2 results"),
        ("a\nb", "2 lines"),
        (None, ""),
        (7, "7"),
    ],
)
def test_the_outcome_of_a_call(result: Json, told: str) -> None:
    assert format_outcome(result) == told


@pytest.mark.parametrize(
    ("milliseconds", "told"), [(0, "0 ms"), (999, "999 ms"), (1500, "1.5 s"), (61_000, "1 min 1 s")]
)
def test_durations_are_short(milliseconds: int, told: str) -> None:
    assert format_duration(milliseconds) == told


def call(**changes: Json) -> ToolFinished:
    known = {
        "id": "1",
        "name": "grep_files",
        "arguments": {"regex": "x"},
        "result": {"matches": [], "total_matches": 0},
        "success": True,
        "error": None,
        "duration_ms": 12,
    }
    return ToolFinished(**{**known, **changes})


def test_a_call_is_one_line_however_long_it_is() -> None:
    assert format_call(call(), Signs(), 80).plain == "✓ grep_files x  0 matches · 12 ms"
    failed = call(success=False, error="It\nfailed", depth=1)
    assert format_call(failed, Signs(), 80).plain == "  ✗ grep_files x  It failed"
    long = call(arguments={"regex": "y" * 500}, result={"matches": [], "total_matches": 3})
    line = format_call(long, ASCII, 60)
    assert line.cell_len <= 60
    assert line.plain.endswith("3 matches - 12 ms")


def test_an_error_that_does_not_fit_follows_below_with_all_its_words() -> None:
    error = "'src/nowhere/login.py' cannot be read: there is no such file."
    failed = call(name="read_file", success=False, error=error, depth=1)
    first, *rest = format_call(failed, Signs(), 50).plain.split("\n")
    assert first == "  ✗ read_file x"
    assert all(row.startswith("    ") and len(row) <= 50 for row in rest)
    assert " ".join(" ".join(rest).split()) == error


def test_a_call_is_shown_whole_without_what_could_steer_a_terminal() -> None:
    whole = call(arguments={"content": "a\n\x1b[2Jb"}, result={"path": "x.py", "diff": DIFF})
    screen = Screen(Console(width=81, file=io.StringIO()), Signs())
    shown = "\n".join(line.plain for line in format_full_call(whole, screen))
    assert "\x1b" not in shown
    assert "  content:\n    a\n    \ufffd[2Jb" in shown
    assert "  path: x.py" in shown
    assert shown.endswith("    1 - old\n    1 + new\n    2 + newer\n    3   same")


def test_plans_have_their_signs() -> None:
    items = [{"text": "a", "state": s} for s in ("done", "doing", "open")] + ["b"]
    assert [line.plain for line in format_plan(items, Signs())] == ["✓ a", "▸ a", "☐ a", "☐ b"]


def test_signs_are_those_of_the_encoding() -> None:
    assert choose_signs("utf-8") == Signs()
    for narrow in ("ascii", "latin-1", "no-such", None):
        assert choose_signs(narrow) is ASCII


def test_a_receipt_is_one_line() -> None:
    items = [
        ReceiptItem("code", "a.py:1-2", "", 10),
        ReceiptItem("code", "b.py:1-2", "", 10),
        ReceiptItem("past_turns", "turn 1", "", 10),
        ReceiptItem("summaries", "s", "", 10),
        ReceiptItem("level1_summaries", "s", "", 10),
    ]
    searches = (SearchReport("code by meaning", "late"), SearchReport("plan", "ok"))
    receipt = Receipt(100_000, 12_345, tuple(items), (), searches)
    assert format_receipt(receipt) == (
        "context: 2 places in the code, 1 past turn, 2 summaries, 12,345 chars, "
        "code by meaning late"
    )
