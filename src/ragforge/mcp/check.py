"""Check: arguments against the schema of a tool. It knows the few words that ours use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragforge.errors import InputError

_TYPES: Mapping[str, type] = {"string": str, "integer": int, "boolean": bool}
LIMITS: Mapping[str, tuple[int, int]] = {
    "budget": (1_000, 100_000),
    "limit": (1, 50),
    "page": (1, 1_000_000),
}
"""The least and the most of numbers. The schemas leave them out: each costs an agent tokens."""


def check_arguments(tool: str, schema: Mapping[str, Any], given: object) -> Mapping[str, Any]:
    """Return the arguments without those that are null.

    Raises InputError that names the wrong one and what it should be.
    """
    if given is None:
        given = {}
    if not isinstance(given, dict):
        raise _refuse(tool, "they are not an object")
    fields: Mapping[str, Mapping[str, Any]] = schema["properties"]
    for name in given:
        if name not in fields:
            raise _refuse(tool, f"there is no argument {name[:80]!r}; there are {list(fields)}")
    present = {name: value for name, value in given.items() if value is not None}
    for name in schema.get("required", ()):
        if name not in present:
            raise _refuse(tool, f"{name} is missing")
    for name, value in present.items():
        if problem := _find_problem(name, fields[name]["type"], value):
            raise _refuse(tool, f"{name} {problem}")
    return present


def _find_problem(name: str, kind: str, value: object) -> str:
    if not isinstance(value, _TYPES[kind]) or isinstance(value, bool) != (kind == "boolean"):
        return f"is not of the type {kind}"
    if isinstance(value, str) and not value.strip():
        return "is empty"
    if kind == "integer" and isinstance(value, int):
        least, most = LIMITS[name]
        if not least <= value <= most:
            return f"is not from {least} to {most}"
    return ""


def _refuse(tool: str, problem: str) -> InputError:
    return InputError(f"Invalid arguments for {tool}: {problem}.")
