"""Clean: prepare messages for storing.

Secrets are removed, because stored text may be searched, shown, copied and sent. Recalled text is
removed, because it is stored already. Huge results are cut; their true size is kept.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ragforge.domain.conversations import Message, ToolCall, ToolResult, estimate_tokens
from ragforge.domain.text import Json, to_text
from ragforge.memory.fences import remove_fenced


def clean_message(message: Message, max_result_chars: int) -> Message:
    """Return a message as it is stored."""
    from ragforge.memory.secrets.redact import redact, redact_json  # slow to import

    calls = tuple(_clean_call(call, max_result_chars) for call in message.tool_calls)
    content = redact(remove_fenced(message.content))
    reasoning = message.reasoning and redact(remove_fenced(message.reasoning))
    kept = replace(
        message,
        content=content,
        reasoning=reasoning or None,
        tool_calls=calls,
        receipt=redact_json(message.receipt),
    )
    if kept.token_count is None:
        kept = replace(kept, token_count=estimate_tokens(kept))
    return kept


def _clean_call(call: ToolCall, most: int) -> ToolCall:
    arguments, _ = _make_storable(call.arguments, most)
    result = None if call.result is None else _clean_result(call.result, most)
    return replace(call, arguments=arguments, result=result)


def _clean_result(result: ToolResult, most: int) -> ToolResult:
    from ragforge.memory.secrets.redact import redact

    kept, size = _make_storable(result.result, most)
    error = result.error and redact(result.error.encode(errors="replace").decode())
    size = result.result_size_bytes or size
    return replace(result, result=kept, error=error, result_size_bytes=size)


def _make_storable(value: Any, most: int) -> tuple[Json, int]:
    """Return a value as JSON, without secrets and within the limit, and its true size in bytes."""
    from ragforge.memory.secrets.redact import redact_json

    exact, size = _to_json(value)
    kept = redact_json(exact)
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
