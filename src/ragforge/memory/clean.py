"""Clean: prepare messages for storing.

Recalled text is removed, because it is stored already. Huge results are cut; their true size is
kept. Secrets are removed when it is stored (`domain/schema.py`), but what is cut is
redacted here: half of a secret is not recognised.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ragforge.domain.conversations import Message, ToolCall, ToolResult, estimate_tokens
from ragforge.domain.text import Json, to_text
from ragforge.memory.context_tags import remove_fenced


def clean_message(message: Message, max_result_chars: int, mark: str = "") -> Message:
    """Return a message as it is stored; `mark` is that of its conversation's fences.

    Recalled text is removed from what a user said alone. What a model says is stored as it was
    shown, also if it is put between marks of ours.
    """
    calls = tuple(clean_call(call, max_result_chars) for call in message.tool_calls)
    said = message.content
    content = remove_fenced(said, mark) if message.role == "user" else said
    reasoning = message.reasoning
    kept = replace(
        message,
        content=content,
        reasoning=reasoning or None,
        tool_calls=calls,
    )
    if kept.token_count is None:
        kept = replace(kept, token_count=estimate_tokens(kept))
    return kept


def clean_call(call: ToolCall, most: int) -> ToolCall:
    """Return a call as it is stored."""
    arguments, _ = _make_storable(call.arguments, most)
    result = None if call.result is None else _clean_result(call.result, most)
    return replace(call, arguments=arguments, result=result)


def _clean_result(result: ToolResult, most: int) -> ToolResult:
    kept, size = _make_storable(result.result, most)
    error = result.error and result.error.encode(errors="replace").decode()
    size = result.result_size_bytes or size
    return replace(result, result=kept, error=error, result_size_bytes=size)


def _make_storable(value: Any, most: int) -> tuple[Json, int]:
    """Return a value as JSON, within the limit, and its true size in bytes."""
    kept, size = _to_json(value)
    if len(to_text(kept)) <= most:
        return kept, size
    from ragforge.memory.secrets.redact import redact_json  # slow to import

    kept = redact_json(kept)
    text = to_text(kept)
    if len(text) <= most:
        return kept, size
    note = f"\n[… cut here: {size:,} bytes in all]"
    return text[: max(0, most - len(note))] + note, size


def _to_json(value: Any) -> tuple[Json, int]:
    """Return a value as JSON and its size; bytes and other objects are described in words."""
    if isinstance(value, bytes | bytearray):
        return _describe(value), len(value)
    try:
        text = json.dumps(value, ensure_ascii=False, default=_describe, skipkeys=True)
    except (TypeError, ValueError, RecursionError):
        return "[a value that cannot be stored: it is too deep or holds itself]", 0
    size = len(text.encode(errors="replace")) - (2 if isinstance(value, str) else 0)
    if isinstance(value, str):
        return value, size
    return json.loads(text, parse_constant=str), size


def _describe(value: object) -> str:
    if isinstance(value, bytes | bytearray):
        return f"[binary: {len(value):,} bytes]"
    return str(value)
