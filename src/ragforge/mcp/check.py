"""Check: arguments against the schema of a tool. It knows the few words that ours use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragforge.mcp.wire import INVALID_PARAMS, WireError

_TYPES: Mapping[str, type] = {"string": str, "integer": int, "boolean": bool}


def check_arguments(tool: str, schema: Mapping[str, Any], given: object) -> Mapping[str, Any]:
    """Return the arguments. Raises WireError that names the wrong one and what it should be."""
    if given is None:
        given = {}
    if not isinstance(given, dict):
        raise _refuse(tool, "the arguments are no object")
    fields: Mapping[str, Mapping[str, Any]] = schema["properties"]
    for name in given:
        if name not in fields:
            raise _refuse(tool, f"there is no argument {name[:80]!r}; there are {list(fields)}")
    for name in schema["required"]:
        if name not in given:
            raise _refuse(tool, f"{name} is missing")
    for name, value in given.items():
        if problem := _find_problem(fields[name], value):
            raise _refuse(tool, f"{name} {problem}")
    return given


def _find_problem(rules: Mapping[str, Any], value: object) -> str:
    kind = _TYPES[rules["type"]]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        return f"is not of the type {rules['type']}"
    if isinstance(value, str) and len(value) < rules.get("minLength", 0):
        return "is empty"
    if isinstance(value, int):
        if value < rules.get("minimum", value):
            return f"is below {rules['minimum']}"
        if value > rules.get("maximum", value):
            return f"is above {rules['maximum']}"
    return ""


def _refuse(tool: str, problem: str) -> WireError:
    return WireError(INVALID_PARAMS, f"{tool} cannot be called so: {problem}.")
