"""Replay: past turns as chat messages, and which of the newest ones are sent.

A provider's cache is used as long as a request begins like the previous one. So the window of
newest turns grows only at its end, until it is too long; then a whole summarised stretch leaves it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import accumulate

from ragforge.domain.chat import (
    AssistantMessage,
    ChatMessage,
    ToolMessage,
    ToolRequest,
    UserMessage,
)
from ragforge.domain.conversations import Message, ToolCall
from ragforge.domain.receipts import Layout
from ragforge.domain.text import Json, indent_lines, shorten, to_one_line, to_text
from ragforge.domain.turns import Turn
from ragforge.llm.calls import format_result
from ragforge.records import dataclass

INTERRUPTED = "Interrupted; it may have been done."
MIN_CALL_CHARS = 120
"""A call that would get less than this is only counted."""
TURN_CHARS = 40
"""What a turn costs in addition to its text: the marks between messages."""
MAX_QUERIES = 20
"""How many turns beyond the window are read for their questions."""
GROWTH = 3.0
"""How many times its least length the window may have before a stretch leaves it."""
ENOUGH = 0.75
"""The share that may be in use after older results are shortened; else a stretch leaves too."""


@dataclass(frozen=True, slots=True)
class ReplayLimits:
    """How many characters a turn may have: its text, and its calls with their results."""

    words: int
    calls: int

    @property
    def total(self) -> int:
        return self.words + self.calls


class Replays:
    """Past turns as messages; each turn is converted once."""

    def __init__(self) -> None:
        self._wholes: dict[str, _WholeTurn] = {}
        self._cut: dict[tuple[str, ReplayLimits], list[ChatMessage]] = {}

    def of(self, turn: Turn, limits: ReplayLimits) -> list[ChatMessage]:
        """Return a turn as the model saw it; if it is too long, its parts lose their middles.

        The same turn and limits give the same messages, so that a provider can cache them.
        """
        whole = self._get_whole(turn)
        if whole.fits(limits):
            return whole.messages
        if (turn.uuid, limits) not in self._cut:
            self._cut[turn.uuid, limits] = whole.shorten(limits)
        return self._cut[turn.uuid, limits]

    def size(self, turn: Turn, limits: ReplayLimits) -> int:
        """Return how many characters a turn has."""
        whole = self._get_whole(turn)
        if whole.fits(limits):
            return whole.chars
        return sum(map(count_chars, self.of(turn, limits)))

    def _get_whole(self, turn: Turn) -> _WholeTurn:
        if turn.uuid not in self._wholes:
            self._wholes[turn.uuid] = _WholeTurn(turn)
        return self._wholes[turn.uuid]


def replay_turn(turn: Turn, limits: ReplayLimits) -> list[ChatMessage]:
    """Return one turn as the model saw it, within limits."""
    return Replays().of(turn, limits)


def replay_messages(messages: Sequence[Message]) -> list[ChatMessage]:
    """Return everything an assistant said, with its calls and their results."""
    said: list[ChatMessage] = []
    for message in messages:
        if message.role == "assistant":
            calls = {call.uuid: _Call.of(call) for call in message.tool_calls}
            said += _build_messages(message, message.content, calls)
    return said


def count_chars(message: ChatMessage) -> int:
    """Return how many characters a message has, including the arguments of its calls."""
    if isinstance(message, AssistantMessage):
        calls = sum(len(one.name) + len(to_text(one.arguments)) for one in message.tool_requests)
        return len(message.text) + calls
    return len(message.text)


def format_turn(turn: Turn, limits: ReplayLimits) -> str:
    """Return one turn as readable lines, within limits."""
    if any(message.tool_calls for message in turn.replies):
        return format_transcript(replay_turn(turn, limits))
    # A past turn is mostly text: a context has hundreds, and needs no messages of them.
    replies = [(one.role, _format_words(one)) for one in turn.replies if one.role != "user"]
    if len(turn.user.content) + sum(len(text) for _, text in replies) > limits.words:
        return format_transcript(replay_turn(turn, limits))
    lines = [f"User: {indent_lines(turn.user.content)}"]
    lines += [
        f"{'User' if role == 'system' else 'Assistant'}: {indent_lines(text)}"
        for role, text in replies
        if text
    ]
    return "\n".join(lines)


def format_transcript(messages: Iterable[ChatMessage]) -> str:
    """Return replayed messages as readable lines."""
    lines: list[str] = []
    requested: dict[str, str] = {}
    for message in messages:
        match message:
            case UserMessage(text=text):
                lines.append(f"User: {indent_lines(text)}")
            case AssistantMessage(text=text, tool_requests=requests):
                lines += [f"Assistant: {indent_lines(text)}"] if text else []
                requested |= {one.id: f"{one.name} {to_text(one.arguments)}" for one in requests}
            case ToolMessage(request_id=request, text=text):
                asked = to_one_line(requested.get(request, message.name))
                lines.append(f"Tool: {asked} -> {indent_lines(text)}")
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class _Call:
    """A call and its result, as far as they are sent again."""

    uuid: str
    name: str
    arguments: Json
    result: str
    success: bool

    @classmethod
    def of(cls, call: ToolCall) -> _Call:
        if call.result is None:
            return cls(call.uuid, call.tool_name, call.arguments, INTERRUPTED, False)
        gave = call.result
        text = format_result(gave.success, gave.result, gave.error)
        return cls(call.uuid, call.tool_name, call.arguments, text, gave.success)

    @property
    def chars(self) -> int:
        return len(self.name) + len(to_text(self.arguments)) + len(self.result)

    def shorten(self, chars: int) -> _Call:
        """Return the call within `chars` characters; long arguments and results are cut."""
        if self.chars <= chars:
            return self
        chars = max(0, chars - len(self.name))
        given = len(to_text(self.arguments))
        for_result = max(chars // 2, chars - given)
        result = shorten(self.result, for_result)
        arguments = _shorten_json(self.arguments, max(0, chars - len(result)))
        return _Call(self.uuid, self.name, arguments, result, self.success)


class _WholeTurn:
    """A turn with everything that was said, and all its calls."""

    def __init__(self, turn: Turn) -> None:
        self._replies = [message for message in turn.replies if message.role != "user"]
        self._spoken = [turn.user.content, *map(_format_words, self._replies)]
        self._calls = [_Call.of(call) for call in turn.tool_calls]
        self._words = sum(map(len, self._spoken))
        self._calls_chars = sum(call.chars for call in self._calls)

    @cached_property
    def messages(self) -> list[ChatMessage]:
        return self._say(self._spoken, self._calls)

    @cached_property
    def chars(self) -> int:
        return sum(map(count_chars, self.messages)) if self._calls else self._words

    def fits(self, limits: ReplayLimits) -> bool:
        """Tell whether nothing has to be cut."""
        few = len(self._calls) <= _count_affordable_calls(limits.calls)
        return few and self._words <= limits.words and self._calls_chars <= limits.calls

    def shorten(self, limits: ReplayLimits) -> list[ChatMessage]:
        """Return the messages, the longest parts without their middles."""
        return self._say(_fit(self._spoken, limits.words), _fit_calls(self._calls, limits.calls))

    def _say(self, spoken: Sequence[str], calls: Sequence[_Call]) -> list[ChatMessage]:
        kept = {call.uuid: call for call in calls}
        messages: list[ChatMessage] = [UserMessage(spoken[0])]
        for message, text in zip(self._replies, spoken[1:], strict=True):
            messages += _build_messages(message, text, kept)
        return messages


def _build_messages(message: Message, text: str, calls: dict[str, _Call]) -> list[ChatMessage]:
    """Return the chat messages of one stored message; RagForge's own notes become the user's."""
    if message.role == "system":
        return [UserMessage(text)] if text else []
    shown = [calls[call.uuid] for call in message.tool_calls if call.uuid in calls]
    if dropped := len(message.tool_calls) - len(shown):
        text = f"{text}\n({dropped} more calls are left out here.)".strip()
    if not text and not shown:
        return []
    requests = tuple(ToolRequest(call.uuid, call.name, call.arguments) for call in shown)
    results = [ToolMessage(call.uuid, call.name, call.result, call.success) for call in shown]
    return [AssistantMessage(text, tool_requests=requests), *results]


def _format_words(message: Message) -> str:
    return f"(RagForge: {message.content})" if message.role == "system" else message.content


def _fit_calls(calls: Sequence[_Call], chars: int) -> list[_Call]:
    """Return calls that fit together; of too many, the first and the last ones."""
    limit = _count_affordable_calls(chars)
    if len(calls) > limit:
        head, tail = (limit + 1) // 2, limit // 2
        calls = [*calls[:head], *(calls[-tail:] if tail else [])]
    shares = split_evenly([call.chars for call in calls], chars)
    return [call.shorten(share) for call, share in zip(calls, shares, strict=True)]


def _count_affordable_calls(chars: int) -> int:
    return max(1, chars // MIN_CALL_CHARS)


def _fit(texts: Sequence[str], chars: int) -> list[str]:
    shares = split_evenly([len(text) for text in texts], chars)
    return [shorten(text, share) for text, share in zip(texts, shares, strict=True)]


def split_evenly(lengths: Sequence[int], total: int) -> list[int]:
    """Return how much of each length fits into a total: an equal share, and what others leave."""
    shares = [0] * len(lengths)
    left, waiting = max(0, total), len(lengths)
    for at in sorted(range(len(lengths)), key=lambda at: lengths[at]):
        shares[at] = min(lengths[at], left // waiting)
        left -= shares[at]
        waiting -= 1
    return shares


def _shorten_json(value: Json, chars: int) -> Json:
    """Return a JSON value with its strings cut, so that it fits as far as possible."""
    if len(to_text(value)) <= chars:
        return value
    strings = max(1, _count_strings(value))
    return _cut_strings(value, max(20, chars // strings))


def _count_strings(value: Json) -> int:
    if isinstance(value, dict):
        return sum(map(_count_strings, value.values()))
    if isinstance(value, list):
        return sum(map(_count_strings, value))
    return int(isinstance(value, str))


def _cut_strings(value: Json, chars: int) -> Json:
    if isinstance(value, str):
        return shorten(value, chars)
    if isinstance(value, dict):
        return {name: _cut_strings(inner, chars) for name, inner in value.items()}
    if isinstance(value, list):
        return [_cut_strings(inner, chars) for inner in value]
    return value


@dataclass(frozen=True, slots=True)
class Window:
    """The turns that are shown: the first, and the first with whole tool results."""

    first: int
    whole_from: int


@dataclass(frozen=True, slots=True)
class WindowLimits:
    """The least and the most characters of the window, and the limits of a turn in it."""

    min_chars: int
    max_chars: int
    whole: ReplayLimits  # of the newest turns
    short: ReplayLimits  # of older ones

    @classmethod
    def of(cls, recent: int, total: int) -> WindowLimits:
        """Return the limits for a budget of recent turns within a total."""
        unit = min(max(recent, total // 10), total // 3)
        whole, short = ReplayLimits(2 * unit, unit // 2), ReplayLimits(unit, unit // 10)
        max_chars = min(round(GROWTH * recent), total)
        return cls(recent, max(max_chars, whole.total), whole, short)

    def get_turn_limits(self, index: int, window: Window) -> ReplayLimits:
        """Return how much of a turn is shown."""
        return self.whole if index >= window.whole_from else self.short


def get_index(turn: Turn) -> int:
    """Return the number of a stored turn in its conversation."""
    return turn.user.turn_index or 0


def list_shown(turns: Sequence[Turn], window: Window) -> list[Turn]:
    """Return the turns that a window shows, oldest first."""
    return [turn for turn in turns if get_index(turn) >= window.first]


def replay_window(
    turns: Sequence[Turn], window: Window, limits: WindowLimits, replays: Replays
) -> list[list[ChatMessage]]:
    """Return the messages of each turn that the window shows."""
    return [
        replays.of(turn, limits.get_turn_limits(get_index(turn), window))
        for turn in list_shown(turns, window)
    ]


def choose_window(
    turns: Sequence[Turn],
    starts: Collection[int],
    before: Window | None,
    limits: WindowLimits,
    replays: Replays,
) -> Window:
    """Return the window over turns, oldest first; `starts` are where summarised stretches begin.

    The previous window stays until it is too long. The newest turn is always included.
    """
    if not turns:
        return Window(0, 0)
    newest = get_index(turns[-1])
    sizes = _Sizes(turns, limits, replays)
    oldest = get_index(turns[0])
    kept = before if before is not None and oldest <= before.first <= newest else None
    kept = kept or Window(oldest, oldest)
    if sizes.total(kept) <= limits.max_chars:
        return kept
    shorter = Window(kept.first, newest)
    if sizes.total(shorter) <= ENOUGH * limits.max_chars:
        return shorter
    later = [index for index in map(get_index, turns) if index > kept.first]
    for candidates in ([index for index in later if index in starts], later):
        enough = [
            window
            for index in reversed(candidates)
            if sizes.total(window := Window(index, newest)) >= limits.min_chars
        ]
        if enough and sizes.total(enough[0]) <= limits.max_chars:
            return enough[0]
    return shorter if sizes.total(shorter) <= limits.max_chars else Window(newest, newest)


class TurnsToRead:
    """Decides which of the newest turns to read: for the window, or for their questions.

    The previous window is read again. Turns are passed newest first.
    """

    def __init__(
        self, limits: WindowLimits, queries: int, replays: Replays, before: Layout | None
    ) -> None:
        self._first = math.inf if before is None else before.first_turn
        self._replays = replays
        self._limits = limits
        self._left = limits.max_chars
        self._queries = queries
        self._beyond = 0

    def wants(self, turn: Turn) -> bool:
        """Tell whether to read a turn, and count its size."""
        if self._left > 0 or get_index(turn) >= self._first:
            self._left -= TURN_CHARS + self._replays.size(turn, self._limits.short)
            return True
        self._beyond += 1
        self._queries -= len(turn.user.content)
        return self._queries >= 0 and self._beyond <= MAX_QUERIES


class _Sizes:
    """The total size of turns, with whole and with short tool results."""

    def __init__(self, turns: Sequence[Turn], limits: WindowLimits, replays: Replays) -> None:
        self._indexes = [get_index(turn) for turn in turns]
        self._whole = _add_up(replays.size(turn, limits.whole) for turn in turns)
        self._short = _add_up(replays.size(turn, limits.short) for turn in turns)

    def total(self, window: Window) -> int:
        """Return how many characters a window shows."""
        first = bisect_left(self._indexes, window.first)
        whole = max(first, bisect_left(self._indexes, window.whole_from))
        return self._short[whole] - self._short[first] + self._whole[-1] - self._whole[whole]


def _add_up(sizes: Iterable[int]) -> list[int]:
    """Return how many characters come before each turn, and the total."""
    return [0, *accumulate(TURN_CHARS + size for size in sizes)]
