"""Plain schemas: the arguments of tools in the few words that every model and grammar knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragforge.domain.chat import JsonSchema

_PLAIN = ("string", "integer", "number", "boolean")


def simplify_schema(schema: JsonSchema, *, described: bool = True) -> JsonSchema:
    """Return the schema of an object without defaults, nulls and most limits.

    An object whose fields are not all plain values, or lists of them, becomes any object.
    """
    fields: dict[str, Any] = {}
    for name, field in (schema.get("properties") or {}).items():
        plain = _simplify_field(field)
        if plain is None:
            return {"type": "object"}
        if described and "description" in field:
            plain["description"] = field["description"]
        fields[name] = plain
    if not fields:
        return {"type": "object"}
    required = [name for name in schema.get("required", ()) if name in fields]
    return {"type": "object", "properties": fields, "required": required}


def _simplify_field(field: object) -> dict[str, Any] | None:
    if not isinstance(field, Mapping):
        return None
    if "anyOf" in field:
        others = [one for one in field["anyOf"] if one != {"type": "null"}]
        return _simplify_field(others[0]) if len(others) == 1 else None
    kind, values = field.get("type"), field.get("enum")
    if values is not None:
        is_text = all(isinstance(value, str) for value in values)
        return {"type": "string", "enum": list(values)} if is_text else None
    if kind in _PLAIN:
        least = {"minLength": 1} if field.get("minLength") else {}
        return {"type": kind, **least}
    if kind == "array" and (items := _simplify_field(field.get("items"))) is not None:
        return {"type": "array", "items": items}
    return None
