"""Budget: a result is cut to the characters that its caller can afford."""

from __future__ import annotations

import json
from typing import Any

_TEXTS = (4_000, 2_000, 1_000, 500, 240, 120, 60)
"""How long a text may be, from step to step: all of a list shortly is worth more than its first."""


def fit_result(project: str, found: Any, budget: int) -> tuple[dict[str, Any], str]:
    """Return a result within its budget, and the same as text. What is empty is left out.

    Long texts are cut first, then the end of the longest list.
    """
    found = _drop_empty(found)
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


def _drop_empty(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: _drop_empty(part) for name, part in value.items()}
        return {name: part for name, part in kept.items() if part not in (None, "", [], {})}
    return [_drop_empty(part) for part in value] if isinstance(value, list | tuple) else value


def _cut_texts(value: Any, longest: int) -> Any:
    if isinstance(value, str) and len(value) > longest:
        return f"{value[: longest - 1]}…"
    if isinstance(value, dict):
        return {name: _cut_texts(part, longest) for name, part in value.items()}
    return [_cut_texts(part, longest) for part in value] if isinstance(value, list) else value


def _find_longest_list(value: Any) -> list[Any] | None:
    """Return the list with the longest text; one that holds a single thing comes last."""
    lists: list[list[Any]] = []

    def collect(part: Any) -> None:
        if isinstance(part, list) and part:
            lists.append(part)
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        for one in inner:
            collect(one)

    collect(value)
    return max(lists, key=lambda one: (len(one) > 1, len(_to_json(one))), default=None)
