"""Fit tools: the tools that a model with a small window is offered."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ragforge.llm.calls import Tool

FIRST = (
    "read_file",
    "grep_files",
    "edit_file",
    "run_command",
    "search_code",
    "list_files",
    "write_file",
    "search_memory",
    "search_files",
)
"""The most useful ones first; the others follow in their own order."""


def fit_tools(tools: Sequence[Tool], most: int | None) -> Sequence[Tool]:
    """Return those tools whose descriptions have at most so many characters, in their order."""
    if most is None:
        return tools
    order = {name: at for at, name in enumerate(FIRST)}
    kept: set[str] = set()
    for tool in sorted(tools, key=lambda one: order.get(one.spec.name, len(order))):
        spec = tool.spec
        most -= len(spec.name) + len(spec.description) + len(json.dumps(spec.parameters))
        if most < 0:
            break
        kept.add(spec.name)
    return [tool for tool in tools if tool.spec.name in kept]
