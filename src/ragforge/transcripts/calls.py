"""Calls: which call a result belongs to, whichever of the two is read first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from ragforge.domain.conversations import ToolCall, ToolResult
from ragforge.domain.text import Json, to_text
from ragforge.records import dataclass
from ragforge.transcripts.edits import find_edits
from ragforge.transcripts.recent import Recent
from ragforge.transcripts.record import FileChange, Record, Result

MOST_OPEN = 64
MOST_ENDED = 16
MOST_EARLY = 16
MOST_EARLY_CHARS = 20_000
"""A longer result that has no call yet is dropped: what waits is stored with every cursor."""


# What Codex says of a patch, also if the command behind it fails.
_APPLIED = "Success. Updated the following files:"


@dataclass(frozen=True, slots=True)
class _StoredCall:
    """A call that was stored: its id, that of its message, and the files that it writes."""

    call_id: str
    message_id: str
    changes: tuple[FileChange, ...] = ()


class Calls:
    """The newest calls of a transcript, by the ids that the agent gave them."""

    def __init__(self) -> None:
        self._open: Recent[_StoredCall] = Recent(MOST_OPEN)
        self._ended: Recent[_StoredCall] = Recent(MOST_ENDED)
        self._early: Recent[Result] = Recent(MOST_EARLY)  # results whose call is not there yet

    def begin(
        self, make_id: Callable[..., str], record: Record, message_id: str, at: datetime
    ) -> tuple[ToolCall, ...]:
        """Return the calls of a message, with results that were read before them."""
        self.note(make_id, record, message_id)
        made: list[ToolCall] = []
        for call in record.calls:
            call_id = make_id("call", record.id, call.id)
            one = ToolCall(call.name, call.arguments, None, call_id, at)
            key = _make_key(record.session, call.id)
            if (early := self._early.pop(key)) is not None:
                one = _give_result(one, _add_changes(early, self._end(key)), at)
            made.append(one)
        return tuple(made)

    def note(self, make_id: Callable[..., str], record: Record, message_id: str) -> None:
        """Remember the calls of a message, also of one that was stored before."""
        for call in record.calls:
            call_id = make_id("call", record.id, call.id)
            stored = _StoredCall(call_id, message_id, find_edits(call.name, call.arguments))
            self._open.put(_make_key(record.session, call.id), stored)

    def finish(self, session: str, result: Result, at: datetime) -> tuple[str, ToolCall] | None:
        """Return the message and the call that a result belongs to; without one it waits."""
        key = _make_key(session, result.call_id)
        if (stored := self._end(key)) is None:
            if len(to_text(result.output)) <= MOST_EARLY_CHARS:
                self._early.put(key, result)
            return None
        call = ToolCall("", uuid=stored.call_id)
        return stored.message_id, _give_result(call, _add_changes(result, stored), at)

    def save(self) -> Json:
        return {
            "open": [[key, asdict(stored)] for key, stored in self._open.items()],
            "ended": [[key, asdict(stored)] for key, stored in self._ended.items()],
            "early": [[key, asdict(result)] for key, result in self._early.items()],
        }

    def load(self, state: Json) -> None:
        for recent, name in ((self._open, "open"), (self._ended, "ended")):
            for key, fields in state[name]:
                recent.put(key, _StoredCall(**{**fields, "changes": _load_changes(fields)}))
        for key, fields in state["early"]:
            self._early.put(key, Result(**{**fields, "changes": _load_changes(fields)}))

    def _end(self, key: str) -> _StoredCall | None:
        """Return the call whose result was read; it is remembered for a second one."""
        if (stored := self._open.pop(key)) is None:
            return self._ended.get(key)
        self._ended.put(key, stored)
        return stored


def _load_changes(fields: Mapping[str, Any]) -> tuple[FileChange, ...]:
    return tuple(FileChange(**change) for change in fields["changes"])


def _add_changes(result: Result, stored: _StoredCall | None) -> Result:
    """Return a result with the files that its call was to write, where it names none itself."""
    if stored is None or result.changes:
        return result
    is_applied = result.success or _APPLIED in to_text(result.output)
    return replace(result, changes=stored.changes) if is_applied else result


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
