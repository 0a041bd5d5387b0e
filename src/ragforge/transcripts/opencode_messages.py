"""opencode's messages: a message with its parts, and the newer form without parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ragforge.domain.text import Json
from ragforge.transcripts.fields import (
    get_blocks,
    get_mapping,
    get_number,
    get_text,
    get_time,
    join_texts,
)
from ragforge.transcripts.record import Call, Record, Result
from ragforge.transcripts.user_text import find_user_text

_SILENT_PARTS = frozenset(
    (
        *("step-start", "step-finish", "snapshot", "patch", "file", "agent", "subtask"),
        *("retry", "compaction"),
    )
)
_SILENT_TYPES = frozenset(
    (
        *("synthetic", "system", "compaction", "agent-switched", "model-switched", "shell"),
        *("agent", "model", "skill", "location-updated"),
    )
)


def is_finished(info: Mapping[str, Any]) -> bool:
    """Tell whether an answer was written to its end."""
    if info.get("role", info.get("type")) != "assistant":
        return True
    ended = get_time(get_mapping(info, "time"), "completed")
    return ended is not None or bool(info.get("error")) or bool(get_text(info, "finish"))


def read_message(
    session: str, info: Mapping[str, Any], parts: Iterable[Mapping[str, Any]], unknown: Counter[str]
) -> Record | None:
    """Return a message with its parts; None if nobody said anything in it."""
    role, name = get_text(info, "role"), get_text(info, "id")
    if role not in ("user", "assistant") or name is None:
        unknown[f"role {role}"] += 1
        return None
    if role == "assistant" and info.get("summary") is True:  # the recap of a compaction
        return None
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[Call] = []
    results: list[Result] = []
    for part in parts:
        kind = get_text(part, "type") or "without a type"
        if kind == "text":
            if not (part.get("synthetic") or part.get("ignored")):
                texts.append(get_text(part, "text") or "")
        elif kind == "reasoning":
            thoughts.append(get_text(part, "text") or "")
        elif kind == "tool":
            call_id = get_text(part, "callID") or get_text(part, "id") or f"{name}/{len(calls)}"
            tool = get_text(part, "tool") or "tool"
            _add_call(call_id, tool, get_mapping(part, "state"), calls, results)
        elif kind not in _SILENT_PARTS:
            unknown[f"part {kind}"] += 1
    return _make_record(session, name, role, info, (texts, thoughts, calls, results))


def read_entry(
    session: str, kind: str, name: str, data: Mapping[str, Any], unknown: Counter[str]
) -> Record | None:
    """Return a message of the newer form, which has its content in one piece."""
    if kind == "user":
        words = get_text(data, "text") or join_texts(data.get("content"))
        return _make_record(session, name, "user", data, ([words], [], [], []))
    if kind != "assistant":
        if kind not in _SILENT_TYPES:
            unknown[kind] += 1
        return None
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[Call] = []
    results: list[Result] = []
    for number, block in enumerate(get_blocks(data.get("content"))):
        kind = get_text(block, "type") or "without a type"
        if kind == "text":
            texts.append(get_text(block, "text") or "")
        elif kind == "reasoning":
            thoughts.append(get_text(block, "text") or "")
        elif kind == "tool":
            call_id = get_text(block, "id") or f"{name}/{number}"
            tool = get_text(block, "name") or get_text(block, "tool") or "tool"
            _add_call(call_id, tool, get_mapping(block, "state"), calls, results)
        else:
            unknown[f"block {kind}"] += 1
    return _make_record(session, name, "assistant", data, (texts, thoughts, calls, results))


def _make_record(
    session: str,
    name: str,
    role: str,
    info: Mapping[str, Any],
    said: tuple[list[str], list[str], list[Call], list[Result]],
) -> Record | None:
    texts, thoughts, calls, results = said
    text = "\n".join(filter(None, texts))
    at = get_time(get_mapping(info, "time"), "created")
    if role == "user":
        words = find_user_text(text)
        return Record(session, name, None, at, "user", words) if words else None
    reasoning = "\n".join(filter(None, thoughts)) or None
    if not (text or reasoning or calls):
        return None
    model = get_mapping(info, "model")
    return Record(
        *(session, name, None, at, "assistant", text, reasoning),
        calls=tuple(calls),
        results=tuple(results),
        model=get_text(info, "modelID") or get_text(model, "modelID") or get_text(model, "id"),
        tokens=get_number(get_mapping(info, "tokens"), "output"),
    )


def _add_call(
    call_id: str, tool: str, state: Mapping[str, Any], calls: list[Call], results: list[Result]
) -> None:
    """Add a call, and its result if it ended. A tool named `invalid` stands for a bad call."""
    calls.append(Call(call_id, tool, state.get("input")))
    status = get_text(state, "status")
    if status not in ("completed", "success", "error"):
        return
    metadata = get_mapping(state, "metadata") or get_mapping(state, "structured")
    code = get_number(metadata, "exit") or 0
    failed = status == "error" or tool == "invalid" or code != 0
    output = get_text(state, "output") or join_texts(state.get("content"))
    error = _get_error(state) or (f"exit code {code}" if code else None) or output or "it failed"
    taken = get_mapping(state, "time")
    duration = (get_number(taken, "end") or 0) - (get_number(taken, "start") or 0)
    results.append(
        Result(
            call_id,
            not failed,
            output or (error if failed else ""),
            error=error if failed else None,
            duration_ms=max(0, duration) if get_number(taken, "end") else 0,
        )
    )


def _get_error(state: Mapping[str, Json]) -> str | None:
    error = state.get("error")
    return get_text(error, "message") if isinstance(error, dict) else get_text(state, "error")
