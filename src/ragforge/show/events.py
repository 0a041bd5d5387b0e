"""Events of a turn, and its answer, as JSON; retries as a line. See docs/terminal.md."""

from __future__ import annotations

from ragforge import events
from ragforge.domain.receipts import Receipt
from ragforge.domain.text import Json
from ragforge.domain.turns import Passage
from ragforge.show.console import Fields, or_none, round_score


def format_retry(event: events.Waiting) -> str:
    """Return why a model is asked again, and when."""
    problem = event.problem.rstrip(".")
    return f"{problem}. Attempt {count_attempt(event)} follows in {event.seconds:.0f} s."


def count_attempt(event: events.Waiting) -> str:
    """Return which attempt it is, and of how many."""
    return f"{event.attempt} of {event.attempts}" if event.attempts else str(event.attempt)


def event_to_json(event: events.Event) -> dict[str, Json]:
    """Return an event as an object whose `type` says what it is."""
    name, fields = _EVENTS[type(event)]
    return {"type": name, **fields(event)}


usage_to_json = Fields("input_tokens output_tokens cached_tokens usd")
_PASSAGE = Fields("source score text file", score=round_score)


def _passage_to_json(passage: Passage) -> dict[str, Json]:
    return _PASSAGE(passage) | {"line": passage.line if passage.file else None}


answer_to_json = Fields(
    "content conversation_id turn_index model problem stopped reasoning tool_calls usage receipt"
    " passages",
    tool_calls=Fields("name=tool_name arguments success error=result.error duration_ms"),
    usage=usage_to_json,
    receipt=Receipt.to_json,
    passages=_passage_to_json,
)
_EVENTS: dict[type, tuple[str, Fields]] = {
    events.QuestionStored: ("asked", Fields("conversation_id turn_index")),
    events.ContextBuilt: ("context", Fields("receipt", receipt=Receipt.to_json)),
    events.Text: ("text", Fields("text")),
    events.Reasoning: ("reasoning", Fields("text")),
    events.ToolStarted: ("tool_started", Fields("id name arguments depth")),
    events.ToolFinished: (
        "tool_finished",
        Fields("id name arguments result success error duration_ms depth"),
    ),
    events.CommandPrinted: ("command_printed", Fields("text")),
    events.Waiting: (
        "waiting",
        Fields(
            "model attempt attempts problem seconds chars",
            attempts=or_none,
            problem=or_none,
            seconds=lambda seconds: round(seconds, 1),
            chars=or_none,
        ),
    ),
    events.Used: (
        "used",
        Fields("usage window_share", usage=usage_to_json, window_share=round_score),
    ),
    events.Noticed: ("notice", Fields("text")),
    events.Done: ("done", Fields("answer", answer=answer_to_json)),
}
