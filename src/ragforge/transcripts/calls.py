"""Calls: which call a result belongs to, whichever of the two is read first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime

from ragforge.domain.conversations import ToolCall, ToolResult
from ragforge.domain.text import Json, to_text
from ragforge.transcripts.recent import Recent
from ragforge.transcripts.record import FileChange, Record, Result

MOST_OPEN = 64
MOST_ENDED = 16
MOST_EARLY = 16
MOST_EARLY_CHARS = 20_000
"""A longer result that has no call yet is dropped: what waits is stored with every cursor."""


class Calls:
    """The newest calls of a transcript, by the ids that the agent gave them."""

    def __init__(self) -> None:
        self._open: Recent[list[str]] = Recent(MOST_OPEN)  # → id of the call, of its message
        self._ended: Recent[list[str]] = Recent(MOST_ENDED)
        self._early: Recent[Result] = Recent(MOST_EARLY)  # results whose call is not there yet

    def begin(
        self, make_id: Callable[..., str], record: Record, message_id: str, at: datetime
    ) -> tuple[ToolCall, ...]:
        """Return the calls of a message, with results that were read before them."""
        self.note(make_id, record, message_id)
        made: list[ToolCall] = []
        for call in record.calls:
            key = _make_key(record.session, call.id)
            one = ToolCall(call.name, call.arguments, None, make_id("call", record.id, call.id), at)
            if (early := self._early.pop(key)) is not None:
                one = _give_result(one, early, at)
                self._end(key)
            made.append(one)
        return tuple(made)

    def note(self, make_id: Callable[..., str], record: Record, message_id: str) -> None:
        """Remember the calls of a message, also of one that was stored before."""
        for call in record.calls:
            ids = [make_id("call", record.id, call.id), message_id]
            self._open.put(_make_key(record.session, call.id), ids)

    def finish(self, session: str, result: Result, at: datetime) -> tuple[str, ToolCall] | None:
        """Return the message and the call that a result belongs to; without one it waits."""
        key = _make_key(session, result.call_id)
        if (known := self._open.get(key) or self._ended.get(key)) is None:
            if len(to_text(result.output)) <= MOST_EARLY_CHARS:
                self._early.put(key, result)
            return None
        self._end(key)
        call_id, message_id = known
        return message_id, _give_result(ToolCall("", uuid=call_id), result, at)

    def save(self) -> Json:
        early = [[key, asdict(result)] for key, result in self._early.items()]
        return {
            "open": dict(self._open.items()),
            "ended": dict(self._ended.items()),
            "early": early,
        }

    def load(self, state: Json) -> None:
        for recent, name in ((self._open, "open"), (self._ended, "ended")):
            for key, ids in state[name].items():
                recent.put(key, list(ids))
        for key, fields in state["early"]:
            changes = tuple(FileChange(**change) for change in fields["changes"])
            self._early.put(key, Result(**{**fields, "changes": changes}))

    def _end(self, key: str) -> None:
        if (known := self._open.pop(key)) is not None:
            self._ended.put(key, known)


def _make_key(session: str, call_id: str) -> str:
    return f"{session} {call_id}"


def _give_result(call: ToolCall, result: Result, at: datetime) -> ToolCall:
    """Return the call with its result; the files that it changed stand beside the output."""
    output = result.output
    size = len(to_text(output).encode("utf-8", "surrogatepass"))
    if result.changes:
        output = {"output": output, "changes": [_show_change(one) for one in result.changes]}
    given = ToolResult(
        result.success, output, result.error, f"{call.uuid}-r", at, result_size_bytes=size
    )
    return replace(call, result=given, success=result.success, duration_ms=result.duration_ms)


def _show_change(change: FileChange) -> Json:
    """Return a change with the names that results of RagForge's own edits have."""
    shown = {
        "file": change.path,
        "before_hash": change.before,
        "after_hash": change.after,
        "diff": change.diff,
    }
    return {name: value for name, value in shown.items() if value is not None}
