"""Past turns as their original messages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragforge.context.replay import (
    ReplayLimits,
    Replays,
    count_chars,
    format_transcript,
    format_turn,
    replay_messages,
    replay_turn,
    split_evenly,
)
from ragforge.domain.chat import AssistantMessage, ToolMessage, UserMessage
from ragforge.domain.conversations import Message, Role, ToolCall, ToolResult
from ragforge.domain.turns import Turn


def call(result: str | None, name: str = "read_file", **arguments: str) -> ToolCall:
    gave = None if result is None else ToolResult(True, result)
    return ToolCall(name, arguments, gave)


def turn(question: str, *replies: Message) -> Turn:
    return Turn(Message("user", question), replies)


def test_a_turn_that_fits_is_what_it_was() -> None:
    looked = call("planks = 4", path="pier.py")
    taken = turn(
        "How many planks?",
        Message("assistant", "Let me look.", tool_calls=(looked,)),
        Message("assistant", "Four."),
    )

    asked, looks, found, answer = replay_turn(taken, ReplayLimits(5_000, 5_000))

    assert asked == UserMessage("How many planks?")
    assert isinstance(looks, AssistantMessage)
    assert looks.tool_requests[0].arguments == {"path": "pier.py"}
    assert found == ToolMessage(looks.tool_requests[0].id, "read_file", "planks = 4")
    assert answer == AssistantMessage("Four.")


def test_a_long_turn_loses_the_middle_of_results_and_keeps_its_words() -> None:
    calls = tuple(call("x" * 5_000, path=f"pier_{n}.py") for n in range(22))
    taken = turn(
        "q" * 2_000,
        *(Message("assistant", "", tool_calls=(one,)) for one in calls),
        Message("assistant", "a" * 2_000),
    )

    messages = replay_turn(taken, ReplayLimits(5_000, 5_000))

    assert messages[0] == UserMessage("q" * 2_000)
    assert messages[-1] == AssistantMessage("a" * 2_000)
    assert sum(isinstance(one, ToolMessage) for one in messages) == 22
    assert sum(map(count_chars, messages)) <= 10_000


def test_very_many_calls_show_the_first_and_the_last_and_count_the_others() -> None:
    calls = tuple(call("x" * 500, path=f"{n}.py") for n in range(100))
    taken = turn("Look", Message("assistant", "Looking.", tool_calls=calls))

    _, looks, *results = replay_turn(taken, ReplayLimits(1_000, 3_000))

    assert isinstance(looks, AssistantMessage)
    shown = [one.arguments["path"] for one in looks.tool_requests]
    assert shown[0] == "0.py"
    assert shown[-1] == "99.py"
    assert f"({100 - len(shown)} more calls are left out here.)" in looks.text
    assert len(results) == len(shown)


def test_every_call_has_a_result_even_if_it_was_interrupted() -> None:
    taken = turn("Write", Message("assistant", "", tool_calls=(call(None, "write_file"),)))

    *_, result = replay_turn(taken, ReplayLimits(1_000, 1_000))

    assert isinstance(result, ToolMessage)
    assert not result.success
    assert "Interrupted" in result.text


def test_long_arguments_are_cut_and_stay_arguments() -> None:
    written = call("ok", "write_file", path="pier.py", content="plank\n" * 50_000)
    taken = turn("Write it", Message("assistant", "", tool_calls=(written,)))

    _, wrote, _ = replay_turn(taken, ReplayLimits(1_000, 5_000))

    assert isinstance(wrote, AssistantMessage)
    assert wrote.tool_requests[0].arguments["path"] == "pier.py"
    assert count_chars(wrote) <= 5_000


def test_notes_by_ragforge_are_not_words_of_the_assistant() -> None:
    taken = turn("Go", Message("assistant", "Half an"), Message("system", "Interrupted."))

    assert replay_turn(taken, ReplayLimits(1_000, 1_000))[-1] == UserMessage(
        "(RagForge: Interrupted.)"
    )
    assert replay_messages(taken.replies) == [AssistantMessage("Half an")]


def test_a_transcript_has_calls_with_what_they_gave() -> None:
    taken = turn("Look", Message("assistant", "Yes.", tool_calls=(call("four", path="a"),)))

    assert format_transcript(replay_turn(taken, ReplayLimits(1_000, 1_000))).split("\n") == [
        "User: Look",
        "Assistant: Yes.",
        'Tool: read_file {"path": "a"} -> four',
    ]


SIZES = st.integers(0, 3_000)


@given(SIZES, SIZES, st.lists(SIZES, max_size=30), st.integers(500, 20_000))
def test_a_turn_never_grows_much_beyond_its_limit(
    asked: int, answered: int, results: list[int], maximum: int
) -> None:
    calls = tuple(call("x" * size, path=f"{n}.py") for n, size in enumerate(results))
    said = Message("assistant", "a" * answered, tool_calls=calls)

    messages = replay_turn(turn("q" * asked, said), ReplayLimits(maximum, maximum))

    names = 40 * len(calls) + 60  # a call keeps its name, and cut arguments their form
    assert sum(map(count_chars, messages)) <= 2 * maximum + names


@given(st.lists(st.integers(0, 500), max_size=20), st.integers(0, 3_000))
def test_shares_never_exceed_the_whole_and_leave_nothing_that_could_be_used(
    lengths: list[int], total: int
) -> None:
    shares = split_evenly(lengths, total)
    assert sum(shares) <= total
    assert all(0 <= share <= length for share, length in zip(shares, lengths, strict=True))
    if sum(lengths) <= total:
        assert shares == lengths


@given(
    st.text(max_size=30),
    st.lists(
        st.builds(
            Message,
            st.sampled_from(["assistant", "system", "user"]),
            st.text(max_size=30),
            tool_calls=st.sampled_from([(), (call("four planks", path="pier.py"),)]),
        ),
        max_size=4,
    ),
    st.integers(1, 120),
)
def test_a_turn_reads_the_same_whether_or_not_it_becomes_messages_first(
    question: str, replies: list[Message], chars: int
) -> None:
    taken, limits = turn(question, *replies), ReplayLimits(chars, 400)

    assert format_turn(taken, limits) == format_transcript(replay_turn(taken, limits))


@given(st.text(max_size=30), st.lists(st.text(max_size=30), max_size=4), st.booleans())
def test_a_turn_has_the_size_of_its_messages(
    question: str, answers: list[str], with_call: bool
) -> None:
    calls = (call("four planks", path="pier.py"),) if with_call else ()
    roles: list[Role] = ["assistant", "system"]
    replies = [Message(roles[at % 2], text, tool_calls=calls) for at, text in enumerate(answers)]
    taken, limits = turn(question, *replies), ReplayLimits(5_000, 5_000)

    size = Replays().size(taken, limits)

    assert size == sum(map(count_chars, replay_turn(taken, limits)))
