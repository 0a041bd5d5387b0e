"""JSON Schema: check a schema that a user wrote, and values against it.

What is checked is the part of the standard that describes data: types, properties, items, limits,
alternatives, references inside the schema. A keyword that would be ignored is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import Any

from ragforge.domain.chat import JsonSchema
from ragforge.domain.text import Json, to_text
from ragforge.errors import InputError

_ANNOTATIONS = (
    *("$schema", "$id", "$comment", "title", "description", "default", "examples", "format"),
    *("deprecated", "readOnly", "writeOnly"),
)
_TYPES: Mapping[str, Callable[[Json], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: _is_number(value) and value % 1 == 0,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
_SCHEMAS = ("items", "additionalProperties", "not", "contains")
_LISTS_OF_SCHEMAS = ("allOf", "anyOf", "oneOf", "prefixItems")
_MAPS_OF_SCHEMAS = ("properties", "$defs", "definitions")
_NUMBERS: Mapping[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "minimum": ("at least", lambda value, limit: value >= limit),
    "maximum": ("at most", lambda value, limit: value <= limit),
    "exclusiveMinimum": ("more than", lambda value, limit: value > limit),
    "exclusiveMaximum": ("less than", lambda value, limit: value < limit),
}
_LENGTHS: Mapping[str, tuple[type, str, bool]] = {
    "minLength": (str, "characters", True),
    "maxLength": (str, "characters", False),
    "minItems": (list, "items", True),
    "maxItems": (list, "items", False),
    "minProperties": (dict, "properties", True),
    "maxProperties": (dict, "properties", False),
}
_KNOWN = frozenset(
    (
        *("type", "enum", "const", "required", "pattern", "multipleOf", "uniqueItems", "$ref"),
        *(*_SCHEMAS, *_LISTS_OF_SCHEMAS, *_MAPS_OF_SCHEMAS, *_NUMBERS, *_LENGTHS, *_ANNOTATIONS),
    )
)
_SHOWN_CHARS = 100


def check_schema(schema: Json) -> JsonSchema:
    """Return a schema whose every keyword can be checked. Raises InputError."""
    if not isinstance(schema, dict):
        raise InputError("The schema must be a JSON object.")
    try:
        _check(schema, schema, "the schema")
    except RecursionError as error:
        raise InputError("The schema is nested too deeply.") from error
    return schema


def check_answer_schema(schema: Json) -> JsonSchema:
    """Return a schema that a model's answer can follow: that of an object. Raises InputError."""
    checked = check_schema(schema)
    if checked.get("type") != "object":
        raise InputError('The schema needs "type": "object" at its top: models follow no other.')
    return checked


def find_problems(value: Json, schema: JsonSchema) -> list[str]:
    """Return what is wrong with a value, a sentence for each place; nothing if it fits."""
    try:
        return list(_find(value, schema, schema, ""))
    except RecursionError:
        return ["the answer is nested too deeply, or the schema refers to itself without end"]


def _check(schema: Json, root: JsonSchema, where: str) -> None:
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        raise InputError(f"In {where}, {_show(schema)} is not a schema.")
    for name, given in schema.items():
        if name not in _KNOWN:
            raise InputError(f"{name!r} in {where} is not supported. Remove it from the schema.")
        _check_keyword(name, given, root, where)


def _check_keyword(name: str, given: Json, root: JsonSchema, where: str) -> None:
    """Raise InputError if a keyword of a schema has a value that it cannot have."""
    wrong = f"{name!r} in {where} cannot be {_show(given)}"
    if name == "type":
        types = given if isinstance(given, list) else [given]
        is_right = bool(types) and all(isinstance(one, str) and one in _TYPES for one in types)
    elif name in ("enum", "required", *_LISTS_OF_SCHEMAS):
        is_right = isinstance(given, list)
    elif name in (*_NUMBERS, *_LENGTHS):
        is_right = _is_number(given)
    elif name == "multipleOf":
        is_right = _is_number(given) and given > 0
    elif name in _MAPS_OF_SCHEMAS:
        is_right = isinstance(given, dict)
    else:
        is_right = True
    if not is_right:
        raise InputError(f"{wrong}.")
    if name == "pattern":
        try:
            re.compile(given)
        except (re.error, TypeError) as error:
            raise InputError(f"{wrong}: {error}.") from error
    if name == "$ref":
        _resolve(given, root)
    for key, inner in _list_inner(name, given):
        _check(inner, root, key)


def _list_inner(name: str, given: Any) -> list[tuple[str, Any]]:
    """Return the schemas in a keyword, each with where it is."""
    if name in _MAPS_OF_SCHEMAS:
        return [(repr(key), inner) for key, inner in given.items()]
    if name in _LISTS_OF_SCHEMAS:
        return [(repr(name), inner) for inner in given]
    return [(repr(name), given)] if name in _SCHEMAS else []


def _resolve(reference: Json, root: JsonSchema) -> Any:
    """Return the schema that a reference names. Raises InputError."""
    found: Any = root
    parts = str(reference).split("/")
    for part in parts[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        found = found.get(key) if isinstance(found, dict) else None
    if parts[0] != "#" or not isinstance(found, dict | bool):
        raise InputError(f"{_show(reference)} is not in the schema; only '#/$defs/NAME' can be.")
    return found


def _find(value: Json, schema: Any, root: JsonSchema, at: str) -> Iterator[str]:
    if isinstance(schema, bool):
        if not schema:
            yield _say(at, "must not be there")
        return
    if "$ref" in schema:
        yield from _find(value, _resolve(schema["$ref"], root), root, at)
    types = schema.get("type", list(_TYPES))
    types = types if isinstance(types, list) else [types]
    if not any(_TYPES[one](value) for one in types):
        yield _say(at, f"must be {' or '.join(types)}, not {_show(value)}")
        return
    if "enum" in schema and not any(_is_same(value, one) for one in schema["enum"]):
        yield _say(at, f"must be one of {_show(schema['enum'])}, not {_show(value)}")
    if "const" in schema and not _is_same(value, schema["const"]):
        yield _say(at, f"must be {_show(schema['const'])}, not {_show(value)}")
    yield from _find_in_limits(value, schema, at)
    if isinstance(value, dict):
        yield from _find_in_object(value, schema, root, at)
    if isinstance(value, list):
        yield from _find_in_list(value, schema, root, at)
    yield from _find_in_alternatives(value, schema, root, at)


def _find_in_limits(value: Json, schema: JsonSchema, at: str) -> Iterator[str]:
    for name, (kind, unit, is_lower) in _LENGTHS.items():
        if name in schema and isinstance(value, kind):
            size, limit = len(value), schema[name]  # type: ignore[arg-type]
            if (size < limit) if is_lower else (size > limit):
                bound = "at least" if is_lower else "at most"
                yield _say(at, f"has {size} {unit}, and must have {bound} {limit}")
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        yield _say(at, f"must match the pattern {schema['pattern']!r}")
    if _is_number(value):
        for name, (bound, holds) in _NUMBERS.items():
            if name in schema and not holds(value, schema[name]):
                yield _say(at, f"must be {bound} {schema[name]}, not {_show(value)}")
        if "multipleOf" in schema and (value / schema["multipleOf"]) % 1:
            yield _say(at, f"must be a multiple of {schema['multipleOf']}, not {_show(value)}")


def _find_in_object(
    value: Mapping[str, Json], schema: JsonSchema, root: JsonSchema, at: str
) -> Iterator[str]:
    properties = schema.get("properties", {})
    for name in schema.get("required", []):
        if name not in value:
            yield _say(at, f"lacks the property {name!r}")
    for name, inner in value.items():
        about = properties.get(name, schema.get("additionalProperties", True))
        yield from _find(inner, about, root, f"{at}.{name}" if at else name)


def _find_in_list(
    value: list[Json], schema: JsonSchema, root: JsonSchema, at: str
) -> Iterator[str]:
    first = schema.get("prefixItems", [])
    for number, inner in enumerate(value):
        about = first[number] if number < len(first) else schema.get("items", True)
        yield from _find(inner, about, root, f"{at}[{number}]")
    if "contains" in schema and not any(_fits(one, schema["contains"], root) for one in value):
        yield _say(at, "has no item of the kind that it must contain")
    if schema.get("uniqueItems") and any(_is_same(*pair) for pair in combinations(value, 2)):
        yield _say(at, "has the same item twice")


def _find_in_alternatives(
    value: Json, schema: JsonSchema, root: JsonSchema, at: str
) -> Iterator[str]:
    for one in schema.get("allOf", []):
        yield from _find(value, one, root, at)
    if "anyOf" in schema and not any(_fits(value, one, root) for one in schema["anyOf"]):
        yield _say(at, "fits none of the alternatives in 'anyOf'")
    if "oneOf" in schema and sum(_fits(value, one, root) for one in schema["oneOf"]) != 1:
        yield _say(at, "must fit exactly one of the alternatives in 'oneOf'")
    if "not" in schema and _fits(value, schema["not"], root):
        yield _say(at, "must not fit the schema in 'not'")


def _fits(value: Json, schema: Any, root: JsonSchema) -> bool:
    return next(_find(value, schema, root, ""), None) is None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_same(one: Any, other: Any) -> bool:
    """Tell whether two values are equal in JSON, where true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_same(one[key], other[key]) for key in one)
    return bool(one == other)


def _say(at: str, problem: str) -> str:
    return f"{at or 'the answer'} {problem}"


def _show(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else to_text(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
