"""Roles: messages with a role and content, without ids and times."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Literal, TypeAlias

from ragforge.records import dataclass
from ragforge.transcripts import fields
from ragforge.transcripts.reader import SessionReader
from ragforge.transcripts.record import Call, Entry, Record, RecordedResult, SessionFacts
from ragforge.transcripts.user_text import find_user_text

_USES: dict[str, Use] = {
    "text": "text",
    **dict.fromkeys(("tool_use", "tool-call", "tool_call"), "call"),
    **dict.fromkeys(("tool_result", "tool-result"), "result"),
    **dict.fromkeys(("thinking", "reasoning"), "thought"),
    **dict.fromkeys(("image", "file", "redacted-reasoning", "redacted_thinking"), "none"),
}
_SILENT = frozenset(("turn_ended", "system", "developer"))
MAX_OPEN = 32


Use: TypeAlias = Literal["text", "thought", "call", "result", "none"]


class RoleReader(SessionReader):
    """Reads messages in order; the id of one is a hash of all that was said before it.

    A call without an id is answered by the next result without one that fits.
    """

    remembered = ("_facts", "_is_noted", "_said", "_chain", "_open")

    def __init__(self, facts: SessionFacts, at: datetime | None = None) -> None:
        """`at` is the time of messages without one."""
        super().__init__(facts)
        self._at = at
        self._open: list[str] = []  # calls without results

    def read(self, content: Mapping[str, Any]) -> Iterator[Entry]:
        """Yield what one message says."""
        yield from self._note()
        role = fields.text(content, "role") or fields.text(content, "type") or "without a role"
        message = fields.mapping(content, "message") or content
        at = fields.time(content, "timestamp") or fields.time(content, "ts") or self._at
        if role in ("user", "assistant", "tool"):
            yield from self._read_blocks(role, message, at, fields.text(content, "model"))
        elif role not in _SILENT:
            self.unknown[role] += 1

    def _read_blocks(
        self, role: str, message: Mapping[str, Any], at: datetime | None, model: str | None
    ) -> Iterator[Entry]:
        said = sort_blocks(fields.blocks(message.get("content")), _USES, self.unknown, "block")
        made, given, reasoning = said.calls, said.results, said.reasoning
        text = find_user_text(said.text) if role == "user" else said.text
        keys = [_get_id(block) or "" for block in (*made, *given)]
        if not (text or reasoning or made or given):
            return
        self._said = fields.hash_texts((self._said, role, text, reasoning or "", *keys))
        results = tuple(self._read_result(block) for block in given)
        calls = tuple(self._read_call(block, number) for number, block in enumerate(made))
        speaker: Literal["user", "assistant"] | None = None
        if role == "assistant" and (text or reasoning or calls):
            speaker = "assistant"
        elif role == "user" and text:
            speaker = "user"
        record = Record(
            self._session,
            self._said,
            at=at,
            speaker=speaker,
            text=text,
            reasoning=reasoning,
            calls=calls,
            results=results,
            model=model if speaker == "assistant" else None,
        )
        yield self._chain.link(record)

    def _read_call(self, block: Mapping[str, Any], number: int) -> Call:
        call_id = _get_id(block) or f"{self._said}/{number}"
        self._open = [*self._open[1 - MAX_OPEN :], call_id]
        name = fields.text(block, "name") or fields.text(block, "toolName") or "tool"
        arguments = block.get("input", block.get("args", block.get("arguments")))
        return Call(call_id, name, fields.load_arguments(arguments))

    def _read_result(self, block: Mapping[str, Any]) -> RecordedResult:
        call_id = _get_id(block) or ""
        if call_id not in self._open and self._open:
            call_id = self._open[0]
        self._open = [name for name in self._open if name != call_id]
        value = block.get("content", block.get("result", block.get("output")))
        output = fields.join_texts(value) if isinstance(value, str | list) else value
        failed = bool(block.get("is_error") or block.get("isError"))
        error = str(output) or "it failed"
        return RecordedResult(call_id, not failed, output, error=error if failed else None)


def _get_id(block: Mapping[str, Any]) -> str | None:
    names = ("tool_use_id", "toolCallId", "id")
    return next(filter(None, (fields.text(block, name) for name in names)), None)


@dataclass(frozen=True, slots=True)
class Content:
    """The text of a message, and the blocks of its calls and results."""

    text: str
    reasoning: str | None
    calls: list[Mapping[str, Any]]
    results: list[Mapping[str, Any]]


def sort_blocks(
    blocks: Iterable[Mapping[str, Any]], uses: Mapping[str, Use], unknown: Counter[str], what: str
) -> Content:
    """Sort blocks by the uses of their types; unknown types are counted."""
    found: defaultdict[Use, list[Mapping[str, Any]]] = defaultdict(list)
    for block in blocks:
        kind = fields.text(block, "type") or "without a type"
        if (use := uses.get(kind)) is None:
            unknown[f"{what} {kind}"] += 1
        else:
            found[use].append(block)
    reasoning = _join(found["thought"], "thinking") or None
    return Content(_join(found["text"], "text"), reasoning, found["call"], found["result"])


def _join(blocks: Iterable[Mapping[str, Any]], name: str) -> str:
    texts = (fields.text(block, name) or fields.text(block, "text") for block in blocks)
    return "\n".join(filter(None, texts))
