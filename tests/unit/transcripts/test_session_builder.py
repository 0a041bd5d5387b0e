"""Session builder: read in pieces or at once, again or in another order, the result is the same."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from ragforge.transcripts.claude_code import CLAUDE_CODE
from ragforge.transcripts.record import Call, Record, RecordedResult
from ragforge.transcripts.session_builder import MAX_EARLY_CHARS, SessionBuilder
from ragforge.transcripts.source import TranscriptSource
from tests.fakes.transcripts import claude_code
from tests.fakes.transcripts.files import START, Line, join_lines
from tests.fakes.transcripts.keeping import Keeper
from tests.fakes.transcripts.rich import RICH


def keep(*records: Record) -> Keeper:
    keeper = Keeper()
    keeper.keep(SessionBuilder("agent", START), records)
    return keeper


def ask(name: str, text: str, parent: str | None = None) -> Record:
    return Record("s", name, parent, START, "user", text)


def answer(name: str, text: str = "", *calls: Call, parent: str | None = None) -> Record:
    return Record("s", name, parent, START, "assistant", text, calls=calls)


def give(name: str, *results: RecordedResult) -> Record:
    return Record("s", name, None, START, results=results)


@pytest.mark.parametrize(("source", "make"), RICH, ids=[source.name for source, _ in RICH])
def test_a_file_that_grows_gives_the_same_as_the_whole_file(
    source: TranscriptSource, make: Callable[[], list[Line]], tmp_path: Path
) -> None:
    data = join_lines(make())
    whole = tmp_path / "whole" / "session" / "rollout-1.jsonl"
    whole.parent.mkdir(parents=True)
    whole.write_bytes(data)
    os.utime(whole, (1, 1))
    expected = Keeper().take_in(source, whole)
    assert expected.conversations
    for seed in range(20):
        dice = random.Random(seed)
        cuts = sorted(dice.sample(range(len(data)), dice.randint(1, 12)))
        growing = tmp_path / str(seed) / "session" / "rollout-1.jsonl"
        growing.parent.mkdir(parents=True)
        keeper = Keeper()
        for cut in (*cuts, len(data)):
            growing.write_bytes(data[:cut])
            os.utime(growing, (1, 1))  # some agents note no times
            keeper.take_in(source, growing)
        assert keeper.conversations == expected.conversations
        assert keeper.facts == expected.facts
        assert keeper.double == []


@pytest.mark.parametrize(("source", "make"), RICH, ids=[source.name for source, _ in RICH])
def test_a_file_that_was_rewritten_adds_only_what_is_new(
    source: TranscriptSource, make: Callable[[], list[Line]], tmp_path: Path
) -> None:
    lines = list(make())
    path = tmp_path / "rollout-1.jsonl"
    path.write_bytes(join_lines(lines[:-4]))
    keeper = Keeper().take_in(source, path)
    path.write_bytes(b"\n" + join_lines(lines))
    keeper.take_in(source, path)
    path.write_bytes(join_lines(lines[:3]))
    keeper.take_in(source, path)
    path.write_bytes(join_lines(lines))
    keeper.take_in(source, path)
    other = Keeper().take_in(source, path)
    assert keeper.show() == other.show()
    assert keeper.double == []


def test_a_copy_of_a_file_adds_nothing(tmp_path: Path) -> None:
    one = claude_code.make_rich_session()
    keeper = Keeper().take_in(CLAUDE_CODE, one.write(tmp_path), one.write(tmp_path, "copy"))
    assert keeper.show() == Keeper().take_in(CLAUDE_CODE, one.write(tmp_path)).show()
    assert keeper.double == []


def test_a_record_that_comes_twice_is_stored_once() -> None:
    assert keep(ask("1", "Hi."), ask("1", "Hi."), answer("2", "Hello.")).show() == [
        ["user: Hi.", "assistant: Hello."]
    ]


def test_a_result_that_comes_before_its_call_is_given_to_it() -> None:
    kept = keep(give("1", RecordedResult("t", output="done")), answer("2", "", Call("t", "Read")))
    assert kept.show() == [["call: Read", "result: done"]]


def test_a_result_without_a_call_is_dropped() -> None:
    kept = keep(ask("1", "Hi."), give("2", RecordedResult("t", output="done")))
    assert kept.show() == [["user: Hi."]]


def test_a_call_keeps_its_first_result() -> None:
    kept = keep(
        answer("1", "", Call("t", "Read")),
        give("2", RecordedResult("t", output="done")),
        give("3", RecordedResult("t", success=False, output="again")),
    )
    assert kept.show() == [["call: Read", "result: done"]]


def test_an_id_that_is_used_again_names_the_newer_call() -> None:
    kept = keep(
        answer("1", "", Call("call_0", "Read")),
        give("2", RecordedResult("call_0", output="first")),
        answer("3", "", Call("call_0", "Write")),
        give("4", RecordedResult("call_0", output="second")),
    )
    assert kept.show() == [["call: Read", "result: first", "call: Write", "result: second"]]


def test_what_waits_for_its_call_is_bounded() -> None:
    builder = SessionBuilder("agent", START)
    long = "x" * (MAX_EARLY_CHARS + 1)
    early = [give(str(n), RecordedResult(str(n), output="x" * 1000)) for n in range(200)]
    list(builder.build([give("long", RecordedResult("long", output=long)), *early]))
    assert len(str(builder.save())) < 40_000


def test_clocks_that_go_back_do_not_change_the_order() -> None:
    earlier = replace(answer("2", "Hello."), at=START - timedelta(days=3))
    kept = keep(ask("1", "Hi."), earlier, ask("3", "Bye."))
    assert kept.show() == [["user: Hi.", "assistant: Hello.", "user: Bye."]]
    (conversation,) = kept.conversations.values()
    assert conversation.messages[1].timestamp == START - timedelta(days=3)


def test_a_record_without_a_time_has_that_of_the_one_before_it() -> None:
    kept = keep(
        replace(ask("1", "Hi."), at=START + timedelta(hours=1)),
        replace(answer("2", "Hello."), at=None),
    )
    (conversation,) = kept.conversations.values()
    assert conversation.messages[1].timestamp == START + timedelta(hours=1)


def test_an_unknown_parent_is_the_newest_message() -> None:
    kept = keep(ask("1", "Hi."), answer("2", "Hello.", parent="lost"), ask("3", "Bye.", "gone"))
    assert kept.show() == [["user: Hi.", "assistant: Hello.", "user: Bye."]]


def test_an_answer_begins_a_conversation_without_a_question() -> None:
    kept = keep(answer("1", "Good morning."), ask("2", "Hi."))
    (conversation,) = kept.conversations.values()
    assert [message.turn_index for message in conversation.messages] == [-1, 0]


def test_what_is_remembered_between_two_readings_is_bounded() -> None:
    builder = SessionBuilder("agent", START)
    for number in range(1000):
        silent = [Record("s", f"r{number}", f"u{number}"), Record("s", f"q{number}", f"r{number}")]
        parent = f"q{max(0, number - dice)}" if (dice := number % 3) else f"q{number - 1}"
        list(builder.build([ask(f"u{number}", "Hi.", parent), *silent]))
    assert len(str(builder.save())) < 60_000
