"""What a permission is asked for: all of it in rows that fit, and nothing in it unseen."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from ragforge.show.screen import ASCII, Screen, Signs
from ragforge.show.visible import MARK, fold, make_visible, style_visible
from ragforge.tools.edits.change import FileEdit
from ragforge.tools.permission import PermissionRequest
from ragforge.tui.permission import lay_out_request, list_answers

WIDTH = 50


def ask(line: str, *always: str) -> PermissionRequest:
    return PermissionRequest("run_command", line, f"$ {line}", always or (line,))


def make_screen(signs: Signs | None = None) -> Screen:
    return Screen(Console(width=WIDTH + 1, file=io.StringIO()), signs or Signs())


def rows(request: PermissionRequest) -> list[str]:
    return [row.plain for row in lay_out_request(request, make_screen()).rows]


def answers(request: PermissionRequest) -> list[str]:
    return [row for one in list_answers(request, WIDTH, Signs()) for row in one.rows]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb", "a⏎b"),
        ("a\r\x1b[2Kb", "a<U+000D><U+001B>[2Kb"),
        ("pa\u200bth", "pa<U+200B>th"),
        ("\u202eabc\u2066", "<U+202E>abc<U+2066>"),
        ("x\U000e0041\ufe0f", "x<U+E0041><U+FE0F>"),
        ("a\u00a0b\u3164", "a<U+00A0>b<U+3164>"),
        ("naïve 日本 ñ", "naïve 日本 ñ"),
        ("\ud800", "<U+D800>"),
    ],
)
def test_what_cannot_be_seen_is_spelt_out(text: str, shown: str) -> None:
    assert make_visible(text) == shown
    assert style_visible(text).plain == shown


def test_a_sign_looks_other_than_the_same_letters_in_the_text() -> None:
    styled = style_visible("<U+200B>\u200b")
    assert [(span.start, span.end, span.style) for span in styled.spans if span.style] == [
        (8, 16, MARK)
    ]


@pytest.mark.parametrize("line", ["x" * 1_000, " " * 500 + "rm x", "日本" * 100, "a\n" * 99 + "b"])
def test_every_row_fits_the_terminal_and_nothing_is_left_out(line: str) -> None:
    found = rows(ask(line))
    assert all(cell_len(row) <= WIDTH for row in found)
    box = "".join(row.removeprefix("│ ") for row in found if row.startswith("│ "))
    assert box == f"$ {make_visible(line)}"
    granted = answers(ask(line))
    assert all(cell_len(row) + 2 <= WIDTH for row in granted)
    assert f"run_command({make_visible(line)})" in "".join(row[5:] for row in granted)


def test_a_line_cannot_look_like_one_of_ours() -> None:
    line = f"true\n  y  yes, this once\n{'x' * WIDTH}\nAllow? [y/a/n]"
    assert "│   y  yes, this once⏎" in rows(ask(line))
    keys = [row[:5] for row in answers(ask(line)) if row[:5].strip()]
    assert keys == ["1 y  ", "2 a  ", "3 n  "]


def test_a_pattern_is_recognised_from_the_line_itself() -> None:
    found = answers(ask("pytest -x", "pytest -x", "pytest *"))
    assert "2 a  always: run_command(pytest -x)" in found
    assert "3    always all of: run_command(pytest *)" in found


def test_nothing_of_a_long_diff_is_left_out() -> None:
    new = "".join(f"line {number}\n" for number in range(5_000))
    diff = FileEdit("b.py", b"one\n", new.encode()).whole_diff
    found = rows(PermissionRequest("edit_file", "a\nb.py", diff, ("a\nb.py", "**")))
    assert found[1] == "Change a⏎b.py?"
    assert found[2] == "│     1 - one"
    assert found[3:] == [f"│ {number + 1:>5} + line {number}" for number in range(5_000)]


def test_a_file_that_would_be_new_is_asked_about_as_such() -> None:
    diff = FileEdit("a.py", None, b"x\n").whole_diff
    assert rows(PermissionRequest("edit_file", "a.py", diff, ()))[1] == "Create a.py?"


def test_rows_count_as_seen_once_they_were_taken() -> None:
    pages = lay_out_request(ask("a\n" * 50), make_screen(ASCII))
    every = len(pages.rows)
    assert len(pages.take(10)) == 10
    assert pages.hidden == every - 10
    assert len(pages.take()) == every - 10
    assert pages.hidden == 0


def test_folding_keeps_blanks() -> None:
    assert [row.plain for row in fold(style_visible("a" + " " * 5 + "b"), 3)] == ["a  ", "   ", "b"]


def test_a_web_page_is_asked_for_by_its_host_with_all_of_its_address() -> None:
    preview = "GET https://x.org/a?b\nwhere https://y.org/ leads"
    request = PermissionRequest("fetch_url", "x.org", preview, ("x.org",))

    assert rows(request)[1:] == [
        "Read a page of x.org?",
        "│ GET https://x.org/a?b",
        "│ where https://y.org/ leads",
    ]
    assert "2 a  always: fetch_url(x.org)" in answers(request)
