"""aider: a history in Markdown, without ids and with one time a run."""

from __future__ import annotations

import random
from datetime import datetime
from pathlib import Path

import pytest

from ragforge.transcripts import aider
from ragforge.transcripts.aider import AIDER
from tests.fakes.transcripts.aider import ANSWER, Aider, make_rich_history
from tests.fakes.transcripts.keeping import Keeper

RICH = [
    [
        "user: Why is the cart wrong?\nIt was fine before.",
        f"assistant: {ANSWER}",
        "call: edit",
        "result: Applied edit to cart.py",
        "assistant: Mended.",
    ],
    ["user: /ask what is left?", "assistant: Nothing."],
]


def test_a_run_is_a_session_with_words_answers_and_edits(tmp_path: Path) -> None:
    kept = Keeper().take_in(AIDER, make_rich_history().write(tmp_path / "shop"))
    assert kept.show() == RICH
    first, second = kept.facts.values()
    assert first == second == {"cwd": str(tmp_path / "shop"), "version": "0.86.1"}
    assert kept.models == {"sonnet"}
    said = next(one for one in kept.list_messages() if one.content == ANSWER)
    assert said.token_count == 80
    edit = kept.list_calls()[0].result
    assert edit is not None
    assert edit.result["changes"] == [{"file": "cart.py"}]


def test_the_time_is_that_of_the_run_on_the_users_clock(tmp_path: Path) -> None:
    kept = Keeper().take_in(AIDER, make_rich_history().write(tmp_path))
    times = {m.timestamp for one in kept.conversations.values() for m in one.messages}
    assert times == {datetime(2026, 3, 2, hour).astimezone() for hour in (9, 10)}


def test_a_history_that_grows_gives_the_same_as_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aider, "PIECE_BYTES", 100)
    path = make_rich_history().write(tmp_path)
    data = path.read_bytes()
    expected = Keeper().take_in(AIDER, path)
    for seed in range(40):
        dice = random.Random(seed)
        keeper = Keeper()
        for cut in (*sorted(dice.sample(range(len(data)), 8)), len(data)):
            path.write_bytes(data[:cut])
            keeper.take_in(AIDER, path)
        assert keeper.conversations == expected.conversations
        assert keeper.double == []


def test_a_history_whose_beginning_was_cut_off_adds_no_duplicates(tmp_path: Path) -> None:
    one = make_rich_history()
    path = one.write(tmp_path)
    keeper = Keeper().take_in(AIDER, path)
    one.text = one.text[one.text.index("# aider chat started at 2026-03-02 10") :]
    one.say("And now?")
    one.answer("Now too.")
    one.write(tmp_path)
    keeper.take_in(AIDER, path)
    assert keeper.show()[1] == [*RICH[1], "user: And now?", "assistant: Now too."]
    assert keeper.double == []


def test_the_same_words_twice_are_two_messages(tmp_path: Path) -> None:
    one = Aider()
    one.begin()
    for _ in range(2):
        one.say("Go on.")
        one.answer("Done.")
    kept = Keeper().take_in(AIDER, one.write(tmp_path))
    assert kept.show() == [["user: Go on.", "assistant: Done."] * 2]


def test_text_before_the_first_run_and_odd_bytes_are_read(tmp_path: Path) -> None:
    path = tmp_path / ".aider.chat.history.md"
    path.write_bytes(
        b"#### Caf\xe9?  \r\n\r\nYes.\r\n# aider chat started at 2026-13-45 99:00:00\n"
    )
    kept = Keeper().take_in(AIDER, path)
    assert kept.show() == [["user: Caf�?", "assistant: Yes."]]


def test_histories_are_found_in_projects_and_where_the_user_put_one(tmp_path: Path) -> None:
    path = Aider().write(tmp_path / "shop")
    assert AIDER.find(tmp_path, {}, [tmp_path / "shop", tmp_path / "empty"]) == [path]
    assert AIDER.find(tmp_path, {"AIDER_CHAT_HISTORY_FILE": str(path)}) == [path]


def test_long_notes_and_many_empty_lines_are_read_as_any_other(tmp_path: Path) -> None:
    history = Aider()
    lines = [
        "# aider chat started at 2026-03-02 09:00:00",
        "#### Why?  ",
        *[""] * 30_000,
        f"> Tokens: {'1' * 300_000}  ",
        "Because.",
        "#### Thanks.  ",
    ]
    history.text = "\n".join(lines) + "\n"
    kept = Keeper().take_in(AIDER, history.write(tmp_path / "shop"))
    assert kept.show() == [["user: Why?", "assistant: Because."]]
