"""Diffs with line numbers, and commands that failed."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from ragforge.domain.text import Json
from ragforge.show.calls import get_failed_output
from ragforge.show.diffs import format_numbered_diff
from ragforge.tools.edits.change import Change

LONG = [f"line {number}\n" for number in range(1, 31)]


def test_each_line_has_its_number_in_the_file_it_stands_in() -> None:
    new = [*LONG[:4], "added\n", *LONG[4:24], "changed\n", *LONG[25:]]
    change = Change("a.txt", "".join(LONG).encode(), "".join(new).encode())
    out = Console(file=io.StringIO(), color_system=None)
    rows = [row.plain for row in format_numbered_diff(change.whole_diff, "a.txt", out)]
    assert rows == [
        "    2   line 2",
        "    3   line 3",
        "    4   line 4",
        "    5 + added",
        "    6   line 5",
        "    7   line 6",
        "    8   line 7",
        "    ⋮",
        "   23   line 22",
        "   24   line 23",
        "   25   line 24",
        "   25 - line 25",
        "   26 + changed",
        "   27   line 26",
        "   28   line 27",
        "   29   line 28",
    ]


def test_a_new_file_and_one_that_is_gone_have_all_their_lines() -> None:
    out = Console(file=io.StringIO(), color_system=None)
    made = Change("a.py", None, b"x = 1\n\ny = 2\n").whole_diff
    gone = Change("a.py", b"x = 1\n", None).whole_diff
    assert [row.plain for row in format_numbered_diff(made, "a.py", out)] == [
        "    1 + x = 1",
        "    2 + ",
        "    3 + y = 2",
    ]
    assert [row.plain for row in format_numbered_diff(gone, "a.py", out)] == ["    1 - x = 1"]


@pytest.mark.parametrize(
    ("result", "output"),
    [
        ({"exit_code": 0, "stdout": "fine"}, None),
        ({"exit_code": 1, "stdout": "", "stderr": ""}, None),  # grep found nothing
        ({"exit_code": 1, "stdout": "1 failed\n", "stderr": ""}, "1 failed"),
        ({"exit_code": 2, "stdout": "", "stderr": ""}, ""),
        (
            {"exit_code": None, "timed_out": True, "stdout": "so far", "stderr": "late"},
            "so far\nlate",
        ),
        ({"running": True, "output": "ready"}, None),
        ({"exit_code": 3, "output": "it fell\n"}, "it fell"),
        ("text", None),
    ],
)
def test_a_command_that_failed_is_recognised(result: Json, output: str | None) -> None:
    assert get_failed_output(result) == output
