"""Diffs with line numbers, and commands that failed."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from ragforge.domain.text import Json
from ragforge.show.calls import get_failed_output
from ragforge.show.console import DARK, LIGHT, get_theme, use_theme
from ragforge.show.diffs import format_diff
from ragforge.tools.edits.change import FileEdit

LONG = [f"line {number}\n" for number in range(1, 31)]


def test_each_line_has_its_number_in_the_file_it_is_in() -> None:
    new = [*LONG[:4], "added\n", *LONG[4:24], "changed\n", *LONG[25:]]
    change = FileEdit("a.txt", "".join(LONG).encode(), "".join(new).encode())
    out = Console(file=io.StringIO(), color_system=None)
    rows = [row.plain for row in format_diff(change.whole_diff, "a.txt", out)]
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
    made = FileEdit("a.py", None, b"x = 1\n\ny = 2\n").whole_diff
    gone = FileEdit("a.py", b"x = 1\n", None).whole_diff
    assert [row.plain for row in format_diff(made, "a.py", out)] == [
        "    1 + x = 1",
        "    2 + ",
        "    3 + y = 2",
    ]
    assert [row.plain for row in format_diff(gone, "a.py", out)] == ["    1 - x = 1"]


def test_changed_lines_have_a_background_or_the_colour_of_their_sign() -> None:
    diff = FileEdit("a.py", b"x = 1\n", b"x = 2  # two\n").whole_diff
    for name, theme in (("dark", DARK), ("light", LIGHT)):
        use_theme(name)
        out = Console(file=io.StringIO(), color_system="256", force_terminal=True)
        gone, new = format_diff(diff, "a.py", out, 40)
        assert (gone.style, new.style) == (theme.removed, theme.added)
        assert gone.cell_len == new.cell_len  # one block
        assert any(span.style != "dim" for span in new.spans[2:])  # the colours of Python
    use_theme("auto")
    few = Console(file=io.StringIO(), color_system="standard", force_terminal=True)
    assert [row.style for row in format_diff(diff, "a.py", few, 40)] == ["red", "green"]


def test_a_terminal_says_whether_it_is_light(monkeypatch: pytest.MonkeyPatch) -> None:
    for said, theme in (("0;15", LIGHT), ("15;0", DARK), ("0;default", DARK), ("", DARK)):
        monkeypatch.setenv("COLORFGBG", said)
        assert get_theme() is theme


def test_what_cannot_be_seen_is_spelt_out_and_no_row_looks_like_another_line() -> None:
    diff = FileEdit("a.py", None, b"a\xe2\x80\x8bb = 1 # " + b"x" * 20).whole_diff
    rows = [row.plain for row in format_diff(diff, "a.py", Console(file=io.StringIO()), 24)]
    assert rows == ["    1 + a<U+200B>b = 1 #", f"         {'x' * 15}", "        xxxxx"]


def test_ends_of_lines_are_shown_where_they_change() -> None:
    out = Console(file=io.StringIO())
    same = "@@ -1 +1 @@\n-x\r\n+y\r\n"
    assert [row.plain for row in format_diff(same, "a", out)] == ["    1 - x", "    1 + y"]
    changed = same.replace("y\r", "y")
    assert format_diff(changed, "a", out)[0].plain == "    1 - x<U+000D>"


def test_nothing_of_a_text_that_is_not_quite_a_diff_is_lost() -> None:
    out = Console(file=io.StringIO())
    cut = "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-old\n… (500 more characters)"
    assert [row.plain for row in format_diff(cut, "x", out)] == [
        "    1 - old",
        "… (500 more characters)",
    ]
    assert [row.plain for row in format_diff("no diff\nat all", "x", out)] == ["no diff", "at all"]


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
