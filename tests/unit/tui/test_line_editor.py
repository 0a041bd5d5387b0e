"""The line that is typed while a turn runs: its keys, and how it is shown."""

from __future__ import annotations

import pytest
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding import KeyPress
from rich.cells import cell_len

from ragforge.show.screen import count_rows, rewraps_lines
from ragforge.tui.live_input import MAX_ROWS, LineEditor
from ragforge.tui.pastes import Pastes

LEFT, HOME, DELETE, WORD_LEFT = "\x1b[D", "\x1b[H", "\x1b[3~", "\x1b[1;5D"


def type_into(line: LineEditor, text: str) -> None:
    keys: list[KeyPress] = []
    Vt100Parser(keys.append).feed_and_flush(text)
    for key in keys:
        line.press(key)


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("grüße 世界\x7f", "grüße 世"),
        (f"abc{LEFT}{LEFT}x", "axbc"),
        (f"abc{HOME}{DELETE}", "bc"),
        ("one two\x17", "one "),
        (f"one two{WORD_LEFT}\x0b", "one "),
        ("one two\x15three", "three"),
        ("one\x0atwo\x1b\rthree", "one\ntwo\nthree"),
        ("\x1b[200~a\r\nb\x1b[201~", "a\nb"),
        ("a\x00\x07b", "ab"),
    ],
)
def test_keys_edit_the_line(typed: str, text: str) -> None:
    line = LineEditor(Pastes())
    type_into(line, typed)
    assert line.take() == text
    assert line.take() == ""


def test_backspace_removes_the_sign_of_a_paste_whole() -> None:
    line = LineEditor(Pastes())
    many = "\n".join(map(str, range(20)))
    type_into(line, f"See \x1b[200~{many}\x1b[201~")
    assert line.text == "See [20 lines]"
    type_into(line, "\x7f")
    assert line.text == "See "


def test_a_text_that_is_taken_back_comes_before_the_line() -> None:
    line = LineEditor(Pastes())
    type_into(line, "second")
    line.put_before("first")
    type_into(line, "!")
    assert line.take() == "first!\nsecond"


@pytest.mark.parametrize("text", ["x" * 300, "世界" * 100, "a\n" * 50, ""])
def test_the_rows_fit_and_the_cursor_is_among_them(text: str) -> None:
    line = LineEditor(Pastes())
    line.put_before(text)
    rows = line.render("❯", 40)
    assert len(rows) <= MAX_ROWS
    assert all(cell_len(row.plain) <= 40 for row in rows)
    assert any(span.style == "reverse" for row in rows for span in row.spans)


def test_what_is_pasted_cannot_control_the_terminal() -> None:
    line = LineEditor(Pastes())
    type_into(line, "\x1b[200~a\x1b]0;x\x07b\x1b[201~")
    assert "\x1b" not in "".join(row.plain for row in line.render("❯", 40))


def test_wrapped_lines_are_counted_where_the_terminal_wraps_again() -> None:
    assert count_rows([80, 0, 41], 40) == 2 + 1 + 2
    assert rewraps_lines({"TERM": "xterm-256color"})
    assert rewraps_lines({"TERM": "tmux", "TMUX": "x", "XTERM_VERSION": "y"})
    assert not rewraps_lines({"TERM": "linux"})
    assert not rewraps_lines({"TERM": "screen", "STY": "x"})
