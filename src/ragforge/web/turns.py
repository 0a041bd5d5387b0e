"""Turns: what the templates need of a turn, beside what was said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import unified_diff
from typing import TYPE_CHECKING

from ragforge.domain.text import Json, keep_beginning, to_text
from ragforge.records import dataclass
from ragforge.show.calls import find_diffs, format_duration, format_headline, format_outcome

if TYPE_CHECKING:
    from ragforge.app.memory import StaleCode
    from ragforge.domain.conversations import Message, ToolCall
    from ragforge.domain.turns import Turn

SHOWN_CHARS = 20_000
"""Of one text of a call: what follows is counted."""
SAID_CHARS = 200_000
CHANGED = 12
"""Pieces of code that are named beside a turn."""
_BEFORE = ("old_text", "old_string", "old_str")
_AFTER = ("new_text", "new_string", "new_str", "content", "file_text")


@dataclass(frozen=True, slots=True)
class CallView:
    """A tool call, to be shown folded."""

    name: str
    headline: str
    outcome: str
    has_failed: bool
    arguments: str
    result: str
    diff: str


@dataclass(frozen=True, slots=True)
class ReplyView:
    """One message of an answer."""

    role: str
    text: str
    reasoning: str
    calls: tuple[CallView, ...]


@dataclass(frozen=True, slots=True)
class TurnView:
    """A turn, to be shown."""

    turn: Turn
    index: int
    question: str
    replies: tuple[ReplyView, ...]
    tokens: int
    usd: float | None  # what it cost, where that is known
    models: tuple[str, ...]
    has_answer: bool
    changed: tuple[StaleCode, ...] = ()  # code that has changed since


def view_turn(turn: Turn, changed: Sequence[StaleCode] = ()) -> TurnView:
    """Return what is shown of a turn; very long texts are cut and say so."""
    said = (turn.user, *turn.replies)
    prices = [message.usd for message in said if message.usd is not None]
    return TurnView(
        turn=turn,
        index=turn.user.turn_index or 0,
        question=keep_beginning(turn.user.content, SAID_CHARS),
        replies=tuple(_view_reply(message) for message in turn.replies),
        tokens=sum(message.token_count or 0 for message in said),
        usd=sum(prices) if prices else None,
        models=tuple(dict.fromkeys(message.model for message in said if message.model)),
        has_answer=any(message.role == "assistant" for message in turn.replies),
        changed=tuple(changed[:CHANGED]),
    )


def _view_reply(message: Message) -> ReplyView:
    return ReplyView(
        role=message.role,
        text=keep_beginning(message.content, SAID_CHARS).strip(),
        reasoning=keep_beginning(message.reasoning or "", SAID_CHARS).strip(),
        calls=tuple(_view_call(call) for call in message.tool_calls),
    )


def _view_call(call: ToolCall) -> CallView:
    result = call.result
    if result is None:
        outcome = "interrupted"
    elif not call.success:
        outcome = "failed"
    else:
        took = format_duration(call.duration_ms) if call.duration_ms else ""
        outcome = " · ".join(filter(None, (format_outcome(result.result), took)))
    gave = "" if result is None else result.error or _format_json(result.result)
    return CallView(
        name=call.tool_name,
        headline=format_headline(call.arguments) if isinstance(call.arguments, dict) else "",
        outcome=outcome,
        has_failed=not call.success,
        arguments=keep_beginning(_format_json(call.arguments), SHOWN_CHARS),
        result=keep_beginning(gave, SHOWN_CHARS),
        diff=keep_beginning(_find_diff(call), SHOWN_CHARS),
    )


def _find_diff(call: ToolCall) -> str:
    """Return what an edit changed: as its tool says, or of the texts that it was given."""
    if call.result and (diffs := find_diffs(call.result.result)):
        return "\n".join(diffs)
    given = call.arguments
    if not isinstance(given, dict):
        return ""
    before, after = _pick(given, _BEFORE), _pick(given, _AFTER)
    if after is None or (before is None and "content" not in given and "file_text" not in given):
        return ""
    if len(before or "") + len(after) > 10 * SHOWN_CHARS:
        return ""
    old, new = (before or "").splitlines(), after.splitlines()
    lines = [*unified_diff(old, new, lineterm="", n=3)][2:]
    # Where in the file it was nobody knows: the numbers of hunks count from the given text.
    return "\n".join("@@" if line.startswith("@@") else line for line in lines)


def _pick(given: dict[str, Json], names: tuple[str, ...]) -> str | None:
    return next((given[name] for name in names if isinstance(given.get(name), str)), None)


def _format_json(value: Json) -> str:
    """Return a value to read: text as it is, anything else indented.

    Texts of several lines in it stand below it as they are, each under its name.
    """
    if isinstance(value, str) or value is None:
        return value or ""
    if isinstance(value, dict):
        texts = {
            name: text for name, text in value.items() if isinstance(text, str) and "\n" in text
        }
        rest = {name: item for name, item in value.items() if name not in texts}
        parts = [json.dumps(rest, ensure_ascii=False, indent=2)] if rest else []
        parts += [f"{name}:\n{text}" for name, text in texts.items()]
        return "\n\n".join(parts)
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False, indent=2)
    return to_text(value)
