"""Lines: whole lines, whatever is in them."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from ragforge.transcripts import source
from ragforge.transcripts.claude_code import CLAUDE_CODE
from ragforge.transcripts.files import open_lines
from ragforge.transcripts.record import Record
from tests.fakes.transcripts.claude_code import Claude, call, text
from tests.fakes.transcripts.files import join_lines
from tests.fakes.transcripts.keeping import Keeper


def make_line(words: str) -> bytes:
    one = Claude()
    one.say(words, uuid=words[:20])
    return join_lines(one.lines)


def list_words(keeper: Keeper) -> list[str]:
    return [line for shown in keeper.show() for line in shown]


def write(path: Path, *parts: bytes) -> Path:
    path.write_bytes(b"".join(parts))
    return path


def test_a_last_line_without_an_end_waits_for_the_next_time(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    keeper = Keeper()
    keeper.take_in(CLAUDE_CODE, write(path, make_line("One."), make_line("Two.")[:-5]))
    assert keeper.show() == [["user: One."]]
    keeper.take_in(CLAUDE_CODE, write(path, make_line("One."), make_line("Two.")))
    assert list_words(keeper) == ["user: One.", "user: Two."]
    assert not keeper.skipped


def test_a_last_line_without_an_end_is_read_if_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    keeper = Keeper()
    keeper.take_in(CLAUDE_CODE, write(path, make_line("One."), make_line("Two.").rstrip()))
    assert list_words(keeper) == ["user: One.", "user: Two."]
    parts = (make_line("One."), make_line("Two."), b"broken\n", make_line("Three."))
    keeper.take_in(CLAUDE_CODE, write(path, *parts))
    assert list_words(keeper) == ["user: One.", "user: Two.", "user: Three."]
    cursor = json.loads(keeper.cursors[str(path)])[0]
    with path.open("ab") as file:
        file.write(b"{broken\n")
    [piece] = CLAUDE_CODE.read(path, cursor)
    assert [line.number for line in piece.skipped_lines] == [5]


def test_a_broken_line_is_counted_and_the_others_are_read(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", b"{broken\n", b"\n", b"[1]\n", b"7\n", make_line("One."))
    keeper = Keeper().take_in(CLAUDE_CODE, path)
    assert keeper.show() == [["user: One."]]
    assert keeper.skipped == {"not JSON": 3}


def test_two_objects_on_one_line_are_both_read(tmp_path: Path) -> None:
    glued = make_line("One.").rstrip() + make_line("Two.")
    keeper = Keeper().take_in(CLAUDE_CODE, write(tmp_path / "s.jsonl", glued))
    assert list_words(keeper) == ["user: One.", "user: Two."]


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (b"caf\xe9", "caf�"),
        (b"\xff\xfe", "��"),
        (rb"lone \ud83d end", "lone � end"),
        (rb"pair \ud83d\ude00 end", "pair 😀 end"),
        (rb"nul \u0000 end", "nul \0 end"),
    ],
)
def test_bytes_that_are_not_unicode_are_replaced(
    written: bytes, words: str, tmp_path: Path
) -> None:
    line = make_line("WORDS").replace(b'"content": "WORDS"', b'"content": "' + written + b'"')
    keeper = Keeper().take_in(CLAUDE_CODE, write(tmp_path / "s.jsonl", line))
    assert keeper.show() == [[f"user: {words}"]]


def test_deep_json_and_huge_numbers_are_counted(tmp_path: Path) -> None:
    deep = b'{"type":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    huge = b'{"type":' + b"9" * 10_000 + b"}\n"
    path = write(tmp_path / "s.jsonl", deep, huge, make_line("One."))
    keeper = Keeper().take_in(CLAUDE_CODE, path)
    assert keeper.show() == [["user: One."]]
    assert keeper.skipped == {"not JSON": 2}


def test_a_line_that_is_too_long_is_skipped_without_being_held(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with path.open("wb") as file:
        file.write(make_line("One."))
        file.seek(70 * 1024 * 1024, 1)  # a hole: it costs no space
        file.write(b"\n" + make_line("Two."))
    tracemalloc.start()
    keeper = Keeper().take_in(CLAUDE_CODE, path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert list_words(keeper) == ["user: One.", "user: Two."]
    assert keeper.skipped == {"longer than 64 MB": 1}
    assert peak < 150 * 1024 * 1024


def test_a_line_of_fifty_megabytes_is_read(tmp_path: Path) -> None:
    size = 50 * 1024 * 1024
    line = make_line("WORDS").replace(b'"content": "WORDS', b'"content": "' + b"W" * size)
    keeper = Keeper().take_in(CLAUDE_CODE, write(tmp_path / "s.jsonl", line, make_line("Two.")))
    (first, second) = list_words(keeper)
    assert len(first) == len("user: ") + size
    assert second == "user: Two."


def test_a_piece_is_bounded_and_its_cursor_continues_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "PIECE_BYTES", 1000)
    lines = [make_line(f"Number {number}.") for number in range(20)]
    path = write(tmp_path / "s.jsonl", *lines)
    pieces = list(CLAUDE_CODE.read(path))
    assert len(pieces) > 5
    assert all(piece.size <= 1000 for piece in pieces)
    assert sum(piece.size for piece in pieces) == path.stat().st_size
    assert sum(piece.lines for piece in pieces) == 20
    cursor = json.loads(json.dumps(pieces[2].cursor))
    rest = [entry for piece in CLAUDE_CODE.read(path, cursor) for entry in piece.entries]
    assert rest == [entry for piece in pieces[3:] for entry in piece.entries]


@pytest.mark.parametrize("cursor", [None, 7, "x", [], {}, {"position": 3}, {"position": {}}])
def test_a_cursor_that_does_not_fit_starts_over(cursor: object, tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", make_line("One."))
    assert sum(len(piece.entries) for piece in CLAUDE_CODE.read(path, cursor)) == 2


def test_the_stamp_changes_with_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", make_line("One."))
    before = CLAUDE_CODE.stamp(path)
    assert CLAUDE_CODE.stamp(path) == before
    write(path, make_line("One."), make_line("Two."))
    assert CLAUDE_CODE.stamp(path) != before


def test_very_many_objects_on_one_line_are_all_read(tmp_path: Path) -> None:
    one = make_line("One.").rstrip().replace(b'"One."', b'"n%d"')
    glued = b" \t".join(one.replace(b"n%d", b"n%d" % number) for number in range(2_000))
    path = write(tmp_path / "s.jsonl", b"\xef\xbb\xbf ", glued, b" cut off\n")
    assert sum(len(piece.entries) for piece in CLAUDE_CODE.read(path)) == 2_001


def test_what_is_remembered_of_a_long_answer_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "PIECE_BYTES", 100_000)
    one = Claude()
    one.say("Read everything.")
    for number in range(4_000):
        block = call(f"t{number}", "Read") if number % 2 else text(f"File {number} is read.")
        one.answer(block, message="m1", requestId="r1")
    pieces = list(CLAUDE_CODE.read(one.write(tmp_path)))
    said = [e for piece in pieces for e in piece.entries if isinstance(e, Record) and e.speaker]
    assert len(said) == 4_001
    assert len(json.dumps(pieces[-1].cursor)) < 150_000


def test_a_file_that_is_gone_raises_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        list(CLAUDE_CODE.read(tmp_path / "gone.jsonl"))


def test_lines_know_where_they_begin_and_end(tmp_path: Path) -> None:
    path = write(tmp_path / "s", b"a\n", b"\n", b"bcd\n", b"rest")
    with open_lines(path) as lines:
        assert [(line.data, line.start, line.end) for line in lines] == [
            (b"a", 0, 2),
            (b"", 2, 3),
            (b"bcd", 3, 7),
        ]


def test_a_cursor_of_an_older_version_reads_the_file_from_its_beginning(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", make_line("One."))
    [piece] = CLAUDE_CODE.read(path)
    older = {"position": piece.cursor["position"], "state": {"facts": [], "side": {}}}
    write(path, make_line("One."), make_line("Two."))
    for cursor, words in ((piece.cursor, ["Two."]), (older, ["One.", "Two."])):
        [again] = CLAUDE_CODE.read(path, cursor)
        assert [entry.text for entry in again.entries if isinstance(entry, Record)] == words
