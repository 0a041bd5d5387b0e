"""opencode's messages: a message with its parts, and the newer form without parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ragforge.domain.text import Json, split_words
from ragforge.transcripts import fields
from ragforge.transcripts.reader import Content, Use, sort_blocks
from ragforge.transcripts.record import Call, Record, RecordedResult, RecordedUsage, add_answer
from ragforge.transcripts.user_text import find_user_text

_BLOCKS: dict[str, Use] = {"text": "text", "reasoning": "thought", "tool": "call"}
_PARTS: dict[str, Use] = {
    **_BLOCKS,
    **dict.fromkeys(("step-start", "step-finish", "snapshot", "patch", "file", "agent"), "none"),
    **dict.fromkeys(("subtask", "retry", "compaction"), "none"),
}
_SILENT_TYPES = split_words(
    """
    synthetic system compaction agent-switched model-switched shell agent model skill
    location-updated
    """
)


def is_finished(info: Mapping[str, Any]) -> bool:
    """Tell whether an answer is complete."""
    if info.get("role", info.get("type")) != "assistant":
        return True
    ended = fields.time(fields.mapping(info, "time"), "completed")
    return ended is not None or bool(info.get("error")) or bool(fields.text(info, "finish"))


def read_message(
    session: str, info: Mapping[str, Any], parts: Iterable[Mapping[str, Any]], unknown: Counter[str]
) -> Record | None:
    """Return a message with its parts; None if nothing is said in it."""
    role, name = fields.text(info, "role"), fields.text(info, "id")
    if role not in ("user", "assistant") or name is None:
        unknown[f"role {role}"] += 1
        return None
    if role == "assistant" and info.get("summary") is True:  # the recap of a compaction
        return None
    written = (part for part in parts if not _is_inserted(part))
    return _make_record(session, name, role, info, sort_blocks(written, _PARTS, unknown, "part"))


def read_entry(
    session: str, kind: str, name: str, data: Mapping[str, Any], unknown: Counter[str]
) -> Record | None:
    """Return a message of the newer format, which has its content in one piece."""
    if kind == "user":
        words = fields.text(data, "text") or fields.join_texts(data.get("content"))
        return _make_record(session, name, "user", data, Content(words, None, [], []))
    if kind != "assistant":
        if kind not in _SILENT_TYPES:
            unknown[kind] += 1
        return None
    parts = (
        {
            **block,
            "callID": fields.text(block, "id") or f"{name}/{number}",
            "tool": fields.text(block, "name") or block.get("tool"),
        }
        for number, block in enumerate(fields.blocks(data.get("content")))
    )
    said = sort_blocks(parts, _BLOCKS, unknown, "block")
    return _make_record(session, name, "assistant", data, said)


def read_usage(session: str, name: str, info: Mapping[str, Any]) -> Iterator[RecordedUsage]:
    """Yield what an answer took. Input is counted without the cache, output without reasoning."""
    tokens = fields.mapping(info, "tokens")
    cache = fields.mapping(tokens, "cache")
    cached, written = fields.tokens(cache, "read"), fields.tokens(cache, "write")
    if tokens:
        yield RecordedUsage(
            session,
            name,
            name,
            fields.tokens(tokens, "input") + cached + written,
            fields.tokens(tokens, "output") + fields.tokens(tokens, "reasoning"),
            cached,
            written,
            usd=fields.price(info, "cost"),
            model=_find_model(info),
            at=fields.time(fields.mapping(info, "time"), "created"),
        )


def _find_model(info: Mapping[str, Any]) -> str | None:
    model = fields.mapping(info, "model")
    return fields.text(info, "modelID") or fields.text(model, "modelID") or fields.text(model, "id")


def _make_record(
    session: str, name: str, role: str, info: Mapping[str, Any], said: Content
) -> Record | None:
    link = Record(session, name, None, fields.time(fields.mapping(info, "time"), "created"))
    if role == "user":
        words = find_user_text(said.text)
        return replace(link, speaker="user", text=words) if words else None
    calls = tuple(_read_call(one, f"{name}/{number}") for number, one in enumerate(said.calls))
    ended = map(_read_result, calls, said.calls)
    answer = add_answer(
        link,
        said.text,
        said.reasoning,
        calls,
        results=tuple(filter(None, ended)),
        model=_find_model(info),
        tokens=fields.number(fields.mapping(info, "tokens"), "output"),
    )
    return answer if answer.speaker else None


def _is_inserted(part: Mapping[str, Any]) -> bool:
    """Tell whether the program wrote a text itself."""
    return part.get("type") == "text" and bool(part.get("synthetic") or part.get("ignored"))


def _read_call(part: Mapping[str, Any], name: str) -> Call:
    call_id = fields.text(part, "callID") or fields.text(part, "id") or name
    tool = fields.text(part, "tool") or "tool"
    return Call(call_id, tool, fields.mapping(part, "state").get("input"))


def _read_result(call: Call, part: Mapping[str, Any]) -> RecordedResult | None:
    """Return the result of a call that ended. A tool named `invalid` means a bad call."""
    state = fields.mapping(part, "state")
    if (status := fields.text(state, "status")) not in ("completed", "success", "error"):
        return None
    metadata = fields.mapping(state, "metadata") or fields.mapping(state, "structured")
    code = fields.number(metadata, "exit") or 0
    failed = status == "error" or call.name == "invalid" or code != 0
    output = fields.text(state, "output") or fields.join_texts(state.get("content"))
    error = _get_error(state) or (f"exit code {code}" if code else None) or output or "it failed"
    taken = fields.mapping(state, "time")
    duration = (fields.number(taken, "end") or 0) - (fields.number(taken, "start") or 0)
    return RecordedResult(
        call.id,
        success=not failed,
        output=output or (error if failed else ""),
        error=error if failed else None,
        duration_ms=max(0, duration) if fields.number(taken, "end") else 0,
    )


def _get_error(state: Mapping[str, Json]) -> str | None:
    error = state.get("error")
    return fields.text(error, "message") if isinstance(error, dict) else fields.text(state, "error")
