"""Input: commands, files, and what an answer to a permission means."""

from __future__ import annotations

import io
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys
from rich.console import Console

from ragforge.agent.permissions import Verdict
from ragforge.config.settings import TerminalSettings
from ragforge.domain.conversations import Conversation
from ragforge.errors import InputError
from ragforge.memory.secrets.redact import redact
from ragforge.memory.sessions import SessionLine
from ragforge.show.screen import Screen
from ragforge.show.sessions import format_age
from ragforge.tools.permission import PermissionRequest
from ragforge.tui.commands.all import COMMANDS, find_command
from ragforge.tui.greeting import format_offers
from ragforge.tui.loop import is_second_press, open_history, save_picture
from ragforge.tui.pastes import Pastes
from ragforge.tui.permission import list_verdicts
from ragforge.tui.picker import filter_lines, format_session, join_session
from ragforge.tui.prompt import ALT_ENTER, InputCompleter, can_complete, find_closest
from ragforge.tui.terminal import Notices

FILES = ["README.md", "src/login.py", "src/web/login_form.ts", "tests/test_login.py", "zzz.txt"]
WISH = PermissionRequest("run_command", "make test", "$ make test", ("make test", "make *"))


def test_commands_are_parsed_with_what_follows_them() -> None:
    found = find_command("  /rename  All about\nleases ")
    assert found is not None
    assert (found[0].name, found[1]) == ("rename", "All about\nleases")
    assert find_command("/exit") is not None
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)


@pytest.mark.parametrize("text", ["hello", "/etc/hosts is what?", "/ what", "a /help", "/Users"])
def test_anything_else_is_a_question(text: str) -> None:
    assert find_command(text) is None


def test_an_unknown_command_is_reported_in_one_sentence() -> None:
    with pytest.raises(InputError, match="Did you mean /sessions"):
        find_command("/session")
    with pytest.raises(InputError, match="/help lists them"):
        find_command("/xyzzy")


def test_files_are_found_by_name_then_path_then_likeness() -> None:
    assert find_closest(FILES, "", 2) == ["README.md", "zzz.txt"]
    assert find_closest(FILES, "login", 10)[:3] == [
        "src/login.py",
        "src/web/login_form.ts",
        "tests/test_login.py",
    ]
    assert find_closest(FILES, "WEB/", 10)[0] == "src/web/login_form.ts"
    assert "src/login.py" in find_closest(FILES, "lgoin.py", 10)
    assert "zzz.txt" not in find_closest(FILES, "login", 10)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("/", True),
        ("/re", True),
        ("/resume ", False),
        ("see @src", True),
        ("a@b", False),
        ("", False),
    ],
)
def test_a_menu_opens_where_there_is_something_to_choose(text: str, is_one: bool) -> None:
    assert can_complete(text) == is_one


def test_completions_replace_what_was_typed() -> None:
    completer = InputCompleter(
        lambda: {"/retry": "Go on", "/resume": "Another"}, lambda: ["login.py"]
    )

    def offered(text: str) -> list[tuple[str, int]]:
        found = completer.get_completions(Document(text), CompleteEvent())
        return [(one.text, one.start_position) for one in found]

    assert offered("/ret") == [("/retry", -4)]
    assert offered("what is @log") == [("login.py", -3)]
    assert offered("nothing") == []
    assert completer.find_only_command("/ret") == "/retry"
    assert completer.find_only_command("/re") is None
    assert completer.find_first_command("/re") == "/retry"
    for other in ("/retry", "/resume x", "/xyzzy", "re", ""):
        assert completer.find_first_command(other) is None


def test_alt_enter_is_one_key_and_esc_then_enter_are_two() -> None:
    keys: list[KeyPress] = []
    parser = Vt100Parser(keys.append)
    parser.feed("\x1b\r")
    assert [one.key for one in keys] == [ALT_ENTER]
    keys.clear()
    parser.feed_and_flush("\x1b")
    parser.feed("\r")
    assert [one.key for one in keys] == [Keys.Escape, Keys.Enter]


def test_ctrl_c_counts_as_the_second_of_two_only_at_once() -> None:
    assert is_second_press(warned_at=10, pressed_at=12)
    assert not is_second_press(warned_at=10, pressed_at=12.1)
    assert not is_second_press(warned_at=None, pressed_at=12)


def test_a_letter_or_the_number_of_an_answer_gives_it() -> None:
    once, this, every = Verdict("once"), Verdict("always", "make test"), Verdict("always", "make *")
    no = Verdict("deny")
    numbers = {"1": once, "2": this, "3": every, "4": no}
    assert list_verdicts(WISH) == {**numbers, "y": once, "a": this, "n": no}
    never = PermissionRequest("run_command", "x", "$ x", ())
    assert list_verdicts(never) == {"1": once, "2": no, "y": once, "n": no}


def test_sessions_are_found_by_all_words_of_title_message_and_date() -> None:
    when = datetime(2026, 1, 31, 14, 30, tzinfo=UTC)
    about = Conversation("/p", "/p", uuid="ab12cd34-0", title="Fix the loop", updated_at=when)
    line = SessionLine(about, "It was the\ncookie")
    other = SessionLine(Conversation("/p", "/p", updated_at=when), "")
    lines = [line, other]
    assert filter_lines(lines, "LOOP cookie 2026-01-31", join_session) == [line]
    assert filter_lines(lines, "ab12", join_session) == [line]
    assert filter_lines(lines, "loop lease", join_session) == []
    assert filter_lines(lines, " ", join_session) == lines
    assert show_session(line) == "2026-01-31    0 turns  Fix the loop  It was the cookie"


def test_a_session_with_a_summary_is_shown_and_found_by_it() -> None:
    about = Conversation("/p", "/p", title="Fix the loop", summary="Cookies went\nround")
    line = SessionLine(about, "Thanks.")
    assert show_session(line).endswith("Fix the loop  Cookies went round")
    assert filter_lines([line], "cookies thanks", join_session) == [line]


def test_a_session_says_whose_it_is_and_loses_no_half_word() -> None:
    title = "Why the invoice was one cent off"
    about = Conversation("/p", "/p", title=title, agent="codex", git_branch="fix/cents")
    line = SessionLine(about, "Each line was rounded.")
    assert show_session(line).endswith(f"{title}  codex  fix/cents  Each line was rounded.")
    assert show_session(line, 50).endswith("Why the invoice was one…")
    assert ("class:agent", "codex  ") in format_session(line, 100)


def show_session(line: SessionLine, width: int = 100) -> str:
    return "".join(text for _, text, *_ in format_session(line, width)).rstrip()


def test_a_long_paste_is_one_sign_and_arrives_in_full() -> None:
    pastes = Pastes()
    many = "\r".join(f"line {number}" for number in range(500))
    assert pastes.fold("a\r\nb") == "a\nb"
    sign = pastes.fold(many)
    other = pastes.fold(many.upper())
    assert (sign, other) == ("[500 lines]", "[500 lines, 2]")
    assert pastes.fold(many) == sign
    text = many.replace("\r", "\n")
    assert pastes.expand(f"{other} and {sign}?") == f"{text.upper()} and {text}?"
    assert pastes.find_sign_before(f"See {sign}") == sign
    assert pastes.find_sign_before("See [9 lines]") == ""


@pytest.mark.parametrize("form", ["{}", "'{}'", '"{}" ', "file://{}", "escaped"])
def test_the_path_of_a_dropped_picture_becomes_its_name(tmp_path: Path, form: str) -> None:
    plain, spaced = tmp_path / "shot.png", tmp_path / "my shot.PNG"
    plain.touch()
    spaced.touch()
    dropped = str(spaced).replace(" ", "\\ ") if form == "escaped" else form.format(spaced)
    assert Pastes().fold(dropped) == f'@"{spaced}" '
    assert Pastes().fold(str(plain)) == f"@{plain} "
    for other in (f"{plain}\n{plain}", str(tmp_path / "none.png"), "shot.png", str(tmp_path)):
        assert Pastes().fold(other) == other


def test_the_picture_in_the_clipboard_becomes_a_private_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    folder = tmp_path / "state" / "pictures"
    with pytest.raises(InputError, match="without wl-paste, xclip or pngpaste"):
        save_picture(folder)
    program = tmp_path / "xclip"
    program.write_text("#!/bin/sh\nprintf 'a text'\n")
    program.chmod(0o755)
    with pytest.raises(InputError, match="no image in the clipboard"):
        save_picture(folder)
    program.write_text("#!/bin/sh\nprintf '\\211PNG\\r\\n\\032\\nrest'\n")
    file = save_picture(folder)
    assert file.read_bytes() == b"\x89PNG\r\n\x1a\nrest"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_long_turn_calls_the_user_as_the_settings_say() -> None:
    for how, written in (("bell", "\a"), ("desktop", "\x1b]9;It is done.\a"), ("off", "")):
        out = io.StringIO()
        screen = Screen(Console(file=out, force_terminal=True))
        Notices(TerminalSettings(notify=how, notify_seconds=0), screen).tell("It is\ndone.")
        assert out.getvalue() == written
    Notices(TerminalSettings(notify="bell"), screen).tell("It was quick.")
    assert out.getvalue() == ""


def test_sessions_are_offered_with_their_age_length_and_subject() -> None:
    noon = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)

    def session(ago: timedelta, turns: int, title: str | None, summary: str = "") -> Conversation:
        facts = {"title": title, "summary": summary, "turn_count": turns}
        return Conversation("/p", "/p", updated_at=noon - ago, **facts)

    offered = [
        session(timedelta(minutes=5), 1, "Login", "Tokens expire after an hour."),
        session(timedelta(days=2), 12, None),
        session(timedelta(days=90), 3, "Old", "x" * 90),
    ]
    assert format_offers(offered, noon, 60) == [
        "  1  5 min ago   1 turn    Login: Tokens expire after an h…",
        "  2  2 days ago  12 turns  (no title)",
        "  3  2025-11-02  3 turns   Old: xxxxxxxxxxxxxxxxxxxxxxxxxx…",
    ]
    assert format_offers([], noon, 60) == []


@pytest.mark.parametrize(
    ("ago", "shown"),
    [
        (timedelta(seconds=-9), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=59), "59 min ago"),
        (timedelta(hours=23, minutes=59), "23 h ago"),
        (timedelta(hours=25), "1 day ago"),
        (timedelta(days=30), "30 days ago"),
        (timedelta(days=31), "2025-12-31"),
    ],
)
def test_an_age_is_a_word_or_two(ago: timedelta, shown: str) -> None:
    noon = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
    assert format_age(noon - ago, noon) == shown


def test_the_history_keeps_no_secrets_and_is_for_its_owner(tmp_path: Path) -> None:
    history = open_history(tmp_path / "state", redact)
    history.append_string("two\nlines")
    history.append_string("postgres://shop:hunter2swordfish@db.local/shop")
    file = tmp_path / "state" / "history"
    assert file.stat().st_mode & 0o777 == 0o600
    assert "hunter2" not in file.read_text()
    kept = list(open_history(tmp_path / "state", redact).load_history_strings())
    assert kept[1] == "two\nlines"


def test_without_a_place_the_history_lasts_as_long_as_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    history = open_history(tmp_path / "file" / "state", redact)
    history.append_string("one")
    assert history.get_strings() == ["one"]
