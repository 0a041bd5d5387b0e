"""Gate: whatever is written to a store passes here first and loses its secrets.

A writer need not remember to redact. The gate stands before the ports, so that it is the same for
every engine. What it reads passes unchanged.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from ragforge.ports.store import Store

Port = TypeVar("Port")
Redacted: TypeAlias = Mapping[str, str]
"""The name of a parameter → the method of `DataRedactor` for it; `*` before: for each item."""

WRITES: Mapping[str, Mapping[str, Redacted]] = {
    "conversations": {
        "create": {"conversation": "redact_conversation"},
        "update": {"changes": "redact_changes"},
        "append": {"messages": "*redact_message"},
        "finish_calls": {"calls": "*redact_call"},
        "branch": {"into": "redact_conversation"},
        "refer": {"references": "*redact_reference"},
    },
    "summaries": {
        "save": {"summary": "redact_summary"},
        "mention": {"scopes": "*redact_reference"},
    },
    "notes": {"add": {"note": "redact_note"}},
    "code": {
        "replace_files": {"files": "*redact_file"},
        "relate_files": {"relations": "*redact_relation"},
    },
    "jobs": {"enqueue": {"jobs": "*redact_job"}, "fail": {"error": "redact_text"}},
    "transcripts": {"take_in": {"cursor": "redact_cursor", "steps": "*redact_step"}},
    "archive": {
        "write": {"records": "redact_records"},
        "add_conversation": {"whole": "redact_bundle"},
        "bookmark": {"name": "redact_text"},  # a copy is named by the address of its source
        "set_bookmark": {"name": "redact_text", "value": "redact_text"},
    },
}
"""Every method of a port that writes text. Others write ids, paths, numbers and vectors."""
IN_A_THREAD = frozenset(("replace_files", "write", "add_conversation", "take_in"))
"""They may write megabytes at once: others go on meanwhile."""


def guard_store(store: Store) -> Store:
    """Return the store with the gate before each of its ports."""
    return replace(
        store,
        conversations=_guard(store.conversations, WRITES["conversations"]),
        summaries=_guard(store.summaries, WRITES["summaries"]),
        notes=_guard(store.notes, WRITES["notes"]),
        code=_guard(store.code, WRITES["code"]),
        jobs=_guard(store.jobs, WRITES["jobs"]),
        archive=_guard(store.archive, WRITES["archive"]),
        transcripts=_guard(store.transcripts, WRITES["transcripts"]),
    )


def _guard(port: Port, writes: Mapping[str, Redacted]) -> Port:
    gate: Any = _Gate(port, writes)
    guarded: Port = gate
    return guarded


class _Gate:
    """A port whose writing methods get their arguments redacted."""

    def __init__(self, port: object, writes: Mapping[str, Redacted]) -> None:
        self._port = port
        self._writes = writes

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)
        if name in self._writes:
            method = _redact_arguments(method, self._writes[name], name in IN_A_THREAD)
        setattr(self, name, method)  # the next call finds it at once
        return method


def _redact_arguments(
    method: Callable[..., Any], redacted: Redacted, in_a_thread: bool
) -> Callable[..., Any]:
    signature = inspect.signature(method)

    async def write(*args: Any, **more: Any) -> Any:
        given = signature.bind(*args, **more)
        if in_a_thread:
            await asyncio.to_thread(_redact, given.arguments, redacted)
        else:
            _redact(given.arguments, redacted)
        return await method(*given.args, **given.kwargs)

    return write


def _redact(arguments: dict[str, Any], redacted: Redacted) -> None:
    from ragforge.memory.secrets.redact_bundle import redact_bundle  # slow to import
    from ragforge.memory.secrets.redact_data import DataRedactor

    redactor = DataRedactor()
    for name, how in redacted.items():
        value = arguments[name]
        if how == "redact_records":
            kind = arguments["kind"]
            arguments[name] = [redactor.redact_record(kind, record) for record in value]
        elif how == "redact_bundle":
            arguments[name] = redact_bundle(value)[0]
        elif how.startswith("*"):
            arguments[name] = list(map(getattr(redactor, how[1:]), value))
        else:
            arguments[name] = getattr(redactor, how)(value)
