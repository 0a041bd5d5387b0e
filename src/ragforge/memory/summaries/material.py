"""Material: the turns of a conversation as text for a summariser, with their files and tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ragforge.domain.conversations import Conversation, ToolCall
from ragforge.domain.text import Json, indent_lines, shorten, to_one_line, to_text
from ragforge.domain.turns import Turn
from ragforge.memory.history import History
from ragforge.memory.past_turns import recall_turn
from ragforge.ports.store import Store
from ragforge.records import dataclass
from ragforge.search.question.code_names import find_paths

ARGUMENT_CHARS = 80
RESULT_CHARS = 600
MIN_TURN_CHARS = 400


def format_turns(turns: Sequence[Turn], chars: int) -> str:
    """Return turns as text within a limit: each gets an equal share, and what others leave."""
    texts = [_format_turn(turn) for turn in turns]
    left, kept = chars, dict[int, str]()
    by_length = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    for place, at in enumerate(by_length):
        share = max(MIN_TURN_CHARS, left // (len(texts) - place))
        kept[at] = shorten(texts[at], share)
        left -= len(kept[at])
    return "\n\n".join(kept[at] for at in range(len(texts)))


def count_tools(turns: Iterable[Turn]) -> Counter[str]:
    """Return how often each tool was used, in the order of first use."""
    return Counter(call.tool_name for turn in turns for call in turn.tool_calls)


def find_files(turns: Iterable[Turn]) -> list[str]:
    """Return the files in the texts and tool arguments of turns, as written."""
    found: dict[str, None] = {}
    for turn in turns:
        for text in (turn.user.content, *(m.content for m in turn.replies)):
            found.update(dict.fromkeys(find_paths(text)))
        for call in turn.tool_calls:
            for text in walk_strings(call.arguments):
                found.update(dict.fromkeys(find_paths(text)))
    return list(found)


def walk_strings(value: Json) -> Iterator[str]:
    """Yield every string in a JSON value, except the names of fields."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            waiting.extend(reversed(item.values()))
        elif isinstance(item, list | tuple):
            waiting.extend(reversed(item))


def format_call(call: ToolCall) -> str:
    """Return a call on one line: its name and its arguments."""
    given = " ".join(to_text(call.arguments).split())
    return f"{call.tool_name} {shorten(given, ARGUMENT_CHARS)}"


def _format_turn(turn: Turn) -> str:
    lines = [f"[turn {turn.user.turn_index}, {turn.user.timestamp:%Y-%m-%d %H:%M}]"]
    lines.append(f"User: {indent_lines(turn.user.content)}")
    for message in turn.replies:
        lines += (
            f"Tool: {format_call(call)} -> {indent_lines(_format_result(call))}"
            for call in message.tool_calls
        )
        if message.content.strip():
            lines.append(f"{message.role.capitalize()}: {indent_lines(message.content)}")
    return "\n".join(lines)


def _format_result(call: ToolCall) -> str:
    if call.result is None:
        return "(no result)"
    if call.result.error:
        return f"failed: {shorten(call.result.error, RESULT_CHARS)}"
    return shorten(to_text(call.result.result), RESULT_CHARS)


@dataclass(frozen=True, slots=True)
class Draft:
    """The parts of a summary that a summariser writes."""

    conversation_summary: str  # what was discussed and why
    actions_summary: str = ""  # what was done, and what came of it
    key_findings: Sequence[str] = ()
    files_mentioned: Sequence[str] = ()
    topics: Sequence[str] = ()


async def format_conversation(store: Store, conversation: Conversation, max_chars: int) -> str:
    """Return a conversation's title, tags, summary and newest turns.

    The turns share the room that the rest leaves. The summary covers the oldest turns of a long
    conversation, for which there is no room. Raises ConversationNotFound.
    """
    heads = {
        "Title": to_one_line(conversation.title or ""),
        "Tags": to_one_line(", ".join(conversation.tags)),
        "Summary": indent_lines(conversation.summary or ""),
    }
    lines = "\n".join(f"{name}: {text}" for name, text in heads.items() if text)
    head = shorten(lines, max_chars // 2)
    room = max_chars - len(head)
    limit = max(1, room // (MIN_TURN_CHARS + 2))
    turns = await History(store).get_recent_turns(conversation.uuid, limit=limit)
    said = [kept for turn in turns if (kept := recall_turn(turn)) is not None]
    text = format_turns(said, room - 2 * len(said))
    return shorten("\n\n".join(part for part in (head, text) if part), max_chars)
