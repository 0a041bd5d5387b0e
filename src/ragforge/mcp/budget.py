"""Budget: a result is cut to the characters that its caller can afford."""

from __future__ import annotations

import json
from typing import Any

from ragforge.app.wording import keep_start

_TEXTS = (4_000, 2_000, 1_000, 500, 240, 120, 60)
"""How long a text may be, from step to step: all of a list shortly is worth more than its first."""

_SPARED = frozenset(
    [
        "by_summary",
        "confidence",
        "created_at",
        "cwd",
        "found_by",
        "last_turn_index",
        "level",
        "project_path",
        "same_content",
        "signals",
        "status",
        "visibility",
    ]
)
"""What a script may want and an agent does not need: it costs characters in each of its results."""


def fit_result(project: str, found: Any, budget: int) -> tuple[dict[str, Any], str]:
    """Return a result within its budget, and the same as text.

    What is empty or needless is left out. Long texts are cut first, then the end of long lists.
    """
    found = _drop_needless(found)
    content = {"project": project, "result": found}
    text = _to_json(content)
    for longest in _TEXTS:
        if len(text) <= budget:
            return content, text
        content = {"project": project, "cut": True, "result": _cut_texts(found, longest)}
        text = _to_json(content)
    while len(text) > budget and (longest_list := _find_longest_list(content["result"])):
        del longest_list[-max(1, len(longest_list) // 4) :]
        text = _to_json(content)
    return content, text


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _drop_needless(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: _drop_needless(part) for name, part in value.items() if name not in _SPARED}
        return {name: part for name, part in kept.items() if part not in (None, "", [], {})}
    return [_drop_needless(part) for part in value] if isinstance(value, list | tuple) else value


def _cut_texts(value: Any, longest: int) -> Any:
    if isinstance(value, str) and len(value) > longest:
        return keep_start(value, longest)
    if isinstance(value, dict):
        return {name: _cut_texts(part, longest) for name, part in value.items()}
    return [_cut_texts(part, longest) for part in value] if isinstance(value, list) else value


def _find_longest_list(value: Any) -> list[Any] | None:
    """Return the list with the longest text; of those that hold a single thing, the shortest."""
    lists: list[list[Any]] = []

    def collect(part: Any) -> None:
        if isinstance(part, list) and part:
            lists.append(part)
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        for one in inner:
            collect(one)

    def rank(one: list[Any]) -> tuple[bool, int]:
        chars = len(_to_json(one))
        return (True, chars) if len(one) > 1 else (False, -chars)

    collect(value)
    return max(lists, key=rank, default=None)
