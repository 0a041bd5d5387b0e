"""A long conversation: with tool calls, references, vectors and a summary, to be imported."""

from __future__ import annotations

from tests.fakes.builders import (
    assistant,
    conversation,
    direction,
    placed,
    reference,
    summary,
    tool_call,
    tool_result,
    user,
)
from tests.fakes.whole import Whole, WholeSummary, set_counters


def make_long_conversation(turns: int) -> Whole:
    """Return a conversation that takes a while to import."""
    messages, references, vectors = [], {}, {}
    for turn in range(turns):
        call = tool_call(arguments={"n": turn}, result=tool_result(f"found {turn} " * 200))
        said = [user(f"asks {turn} " * 20), assistant(f"answers {turn} " * 20, call)]
        messages += placed(said, turn, 2 * turn)
        references[said[1].uuid] = (reference(f"scope {turn}"),)
        vectors[said[0].uuid] = direction(turn)
    about = set_counters(conversation(uuid="long"), messages)
    covered = WholeSummary(summary("long", 0, turns - 1), tuple(range(turns)))
    return Whole(about, tuple(messages), references, (covered,), turn_vectors=vectors)
