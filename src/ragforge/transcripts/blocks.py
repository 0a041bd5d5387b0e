"""Blocks: the content of a message, sorted into texts, thoughts, calls and results."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from ragforge.records import dataclass
from ragforge.transcripts.fields import get_text

Use: TypeAlias = Literal["text", "thought", "call", "result", "none"]


@dataclass(frozen=True, slots=True)
class Content:
    """What a message says, and the blocks of its calls and of results."""

    text: str
    reasoning: str | None
    calls: list[Mapping[str, Any]]
    results: list[Mapping[str, Any]]


def sort_blocks(
    blocks: Iterable[Mapping[str, Any]], uses: Mapping[str, Use], unknown: Counter[str], what: str
) -> Content:
    """Return the content of blocks by the uses of their types; other types are counted."""
    found: defaultdict[Use, list[Mapping[str, Any]]] = defaultdict(list)
    for block in blocks:
        kind = get_text(block, "type") or "without a type"
        if (use := uses.get(kind)) is None:
            unknown[f"{what} {kind}"] += 1
        else:
            found[use].append(block)
    reasoning = _join(found["thought"], "thinking") or None
    return Content(_join(found["text"], "text"), reasoning, found["call"], found["result"])


def _join(blocks: Iterable[Mapping[str, Any]], name: str) -> str:
    texts = (get_text(block, name) or get_text(block, "text") for block in blocks)
    return "\n".join(filter(None, texts))
