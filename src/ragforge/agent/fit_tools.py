"""Fit tools: the tools that a model with a small window is offered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ragforge.domain.chat import ToolSpec
from ragforge.llm.by_schema import simplify_schema
from ragforge.llm.calls import Tool

FIRST = (
    "read_file",
    "edit_file",
    "run_command",
    "write_file",
    "search_code",
    "grep_files",
    "list_files",
    "search_memory",
    "search_files",
)
"""The most useful ones first; the others follow in their own order."""


def fit_tools(tools: Sequence[Tool], most: int | None) -> Sequence[Tool]:
    """Return those tools whose descriptions have at most so many characters, in their order.

    If not all of them fit, each is described in one sentence: more tools in few words are more
    use to a small model than few tools in many.
    """
    if most is None or sum(tool.spec.chars for tool in tools) <= most:
        return tools
    brief = [replace(tool, spec=_shorten(tool.spec)) for tool in tools]
    order = {name: at for at, name in enumerate(FIRST)}
    kept: set[str] = set()
    for tool in sorted(brief, key=lambda one: order.get(one.spec.name, len(order))):
        most -= tool.spec.chars
        if most < 0:
            break
        kept.add(tool.spec.name)
    return [tool for tool in brief if tool.spec.name in kept]


def _shorten(spec: ToolSpec) -> ToolSpec:
    """Return a tool with the first sentence of its description, and with plain arguments.

    Of those that may be missing, it keeps what the sentence names, and wants it: a small model
    fills in whatever it is offered, and leaves empty what it need not give.
    """
    sentence, stop, _ = " ".join(spec.description.split()).partition(". ")
    parameters = simplify_schema(spec.parameters)
    named = {*re.findall(r"\w+", sentence), *parameters.get("required", ())}
    fields = {key: value for key, value in parameters.get("properties", {}).items() if key in named}
    if fields:
        parameters = {**parameters, "properties": fields, "required": list(fields)}
    return replace(spec, description=sentence + stop.strip(), parameters=parameters)
