"""The console: colours for people, plain lines in a pipe, nothing that steers a terminal."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable

import pytest

from ragforge.show.console import fit_line, open_console, print_json, print_table, sanitise
from ragforge.show.snippets import choose_text, compile_words, cut_snippet
from tests.unit.cli.conftest import Ragforge

ESCAPE = "\x1b"


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture
def at_terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Terminal]:
    """Return a function that simulates a terminal; pytest would undo it before the test."""

    def sit_down() -> Terminal:
        terminal = Terminal()
        monkeypatch.setattr(sys, "stdout", terminal)
        monkeypatch.setenv("COLUMNS", "100")
        return terminal

    return sit_down


def test_a_terminal_gets_colours(at_terminal: Callable[[], Terminal]) -> None:
    terminal = at_terminal()
    open_console().print("hello", style="red")
    assert ESCAPE in terminal.getvalue()


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_a_terminal_gets_none_when_the_user_says_so(
    at_terminal: Callable[[], Terminal], monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    terminal = at_terminal()
    monkeypatch.setenv(name, value)
    open_console().print("hello", style="bold red")
    print_table(["", "Check"], [["ok", "Python"]])
    assert ESCAPE not in terminal.getvalue()
    assert "hello" in terminal.getvalue()


def test_a_pipe_gets_no_colours(capsys: pytest.CaptureFixture[str]) -> None:
    open_console().print("hello", style="bold red")
    assert capsys.readouterr().out == "hello\n"


def test_a_table_in_a_pipe_is_aligned_and_never_cut(capsys: pytest.CaptureFixture[str]) -> None:
    long = "x" * 300
    print_table(["Key", "Value"], [["a", long], ["longer", "two\nlines"]])
    assert capsys.readouterr().out == f"KEY     VALUE\na       {long}\nlonger  two lines\n"


def test_a_table_in_a_terminal_keeps_all_text(at_terminal: Callable[[], Terminal]) -> None:
    terminal = at_terminal()
    print_table(["Key", "Value"], [["a", "x" * 300]])
    assert terminal.getvalue().count("x") == 300


def test_a_table_may_cut_some_cells_and_keep_the_others(
    at_terminal: Callable[[], Terminal],
) -> None:
    terminal = at_terminal()
    row = ["ab12cd34", "2025-12-09 14:30", "long " * 60, "longer " * 60]
    print_table(["Id", "When", "Title", "Text"], [row], one_line_each=("Title", "Text"))
    (_, shown) = terminal.getvalue().splitlines()
    assert shown.startswith("ab12cd34  2025-12-09 14:30  long long")
    assert shown.count("…") == 2


def test_in_a_narrow_terminal_texts_follow_below_their_row(
    at_terminal: Callable[[], Terminal], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = at_terminal()
    monkeypatch.setenv("COLUMNS", "50")
    row = ["ab12cd34", "2025-12-09 14:30", "a title", "words " * 12]
    print_table(["Id", "When", "Title", "Text"], [row], one_line_each=("Title", "Text"))
    print_table(["Id", "When", "Problem"], [[*row[:2], row[3]]], one_line_each=("Problem",))
    shown = re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue())
    assert [line.rstrip() for line in shown.splitlines()] == [
        "Id        When",
        "ab12cd34  2025-12-09 14:30",
        "  a title  words words words words words words w…",
        "Id        When",
        "ab12cd34  2025-12-09 14:30",
        "  words words words words words words words words",
        "  words words words words",
    ]


def test_stored_text_cannot_steer_the_terminal() -> None:
    hostile = "a\x1b[2Jb\x07c\x9bd\u202ee\rf\udc80g\r\nh\ti"
    assert sanitise(hostile) == "a\ufffd[2Jb\ufffdc\ufffdd\ufffde\ufffdf\ufffdg\nh\ti"


def test_markup_in_stored_text_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    open_console().print("[bold]x[/bold] :smile:")
    assert capsys.readouterr().out == "[bold]x[/bold] :smile:\n"


def test_one_line_is_short_and_has_no_breaks() -> None:
    assert fit_line("a\n  b\tc", 10) == "a b c"
    assert fit_line("word " * 10, 12) == "word word w…"


def test_json_is_readable_where_the_encoding_allows(at_terminal: Callable[[], Terminal]) -> None:
    terminal = at_terminal()
    print_json({"text": "café \udc80"})
    assert json.loads(terminal.getvalue()) == {"text": "café \ufffd"}
    assert "café" in terminal.getvalue()


def test_json_is_ascii_where_the_encoding_is_narrow(
    at_terminal: Callable[[], Terminal], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = at_terminal()
    monkeypatch.setattr(Terminal, "encoding", "latin-1")
    print_json({"text": "日本"})
    assert terminal.getvalue().isascii()
    assert json.loads(terminal.getvalue()) == {"text": "日本"}


def test_a_snippet_shows_the_words_that_were_looked_for() -> None:
    text = "filler " * 200 + "the lease is renewed here " + "filler " * 200
    lines = cut_snippet(text, compile_words("lease"), 60)
    assert len(lines) == 2
    assert "lease" in " ".join(lines)
    assert lines[0].startswith("…")
    assert lines[1].endswith("…")
    assert all(len(line) <= 60 for line in lines)


def test_a_short_text_is_its_own_snippet() -> None:
    assert cut_snippet("the lease", compile_words("lease"), 60) == ["the lease"]
    assert cut_snippet("  ", compile_words("lease"), 60) == []


def test_a_snippet_without_a_match_is_the_beginning() -> None:
    assert cut_snippet("one two", compile_words("%%"), 60) == ["one two"]


def test_longer_forms_of_a_word_are_marked_but_not_words_that_merely_hold_it() -> None:
    pattern = compile_words("lease C++ a")
    assert pattern is not None
    assert pattern.findall("Leases, release, a C answer") == ["Leases", "C"]


def test_words_that_say_nothing_are_marked_only_where_there_are_no_others() -> None:
    asked, french = compile_words("Where is the tax?"), compile_words("Où est la taxe ?")
    assert asked is not None
    assert asked.findall("the tax is there") == ["tax"]
    assert french is not None
    assert french.findall("la taxe est là") == ["taxe"]
    alone = compile_words("the")
    assert alone is not None
    assert alone.findall("the tax") == ["the"]


def test_the_text_that_holds_the_words_is_preferred() -> None:
    pattern = compile_words("lease")
    assert choose_text(["", "other", "a lease"], pattern) == "a lease"
    assert choose_text(["", "other"], pattern) == "other"
    assert choose_text([], pattern) == ""


def test_config_show_in_a_terminal_is_a_table(
    ragforge: Ragforge, at_terminal: Callable[[], Terminal]
) -> None:
    terminal = at_terminal()
    assert ragforge("config", "show").code == 0
    assert "Origin" in terminal.getvalue()


@pytest.mark.parametrize(
    "hidden",
    [
        "\u200b",
        "\u200e",
        "\u2060",
        "\ufeff",
        "\u00ad",
        "\u3164",
        "\U000e0041",
        "\U000e01ef",
        "\u2028",
    ],
)
def test_characters_without_width_are_made_visible(hidden: str) -> None:
    assert sanitise(f"rm{hidden} -r") == "rm\ufffd -r"


def test_joiners_stay_in_emoji_and_in_other_scripts_and_not_between_letters() -> None:
    family, persian = (
        "\U0001f468\u200d\U0001f469",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    )
    assert sanitise(f"{family} {persian}") == f"{family} {persian}"
    assert sanitise("g\u200dit \u200c\u200d\u200c") == "g\ufffdit \ufffd\ufffd\ufffd"
