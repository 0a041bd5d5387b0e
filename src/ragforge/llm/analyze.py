"""batch_analyze: one question about many items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Optional

from pydantic import BaseModel, ConfigDict, Field, create_model

from ragforge.domain.text import Json
from ragforge.errors import InputError
from ragforge.llm.executor import StructuredLLMExecutor
from ragforge.llm.task import BatchResult, InputField, OnProgress, Packing, Task

ITEM_CHARS = 20_000


_SIMPLE: dict[str, type] = {"string": str, "integer": int, "number": float, "boolean": bool}


async def batch_analyze(
    executor: StructuredLLMExecutor,
    items: Sequence[Json],
    task: str,
    output_schema: type[BaseModel] | Mapping[str, Any],
    packing: Packing | None = None,
    on_progress: OnProgress | None = None,
) -> BatchResult[BaseModel]:
    """Do a task for every item, which may be any JSON; the outputs follow a schema.

    Raises InputError if the schema cannot be understood.
    """
    output = output_schema if isinstance(output_schema, type) else build_output_model(output_schema)
    asked: Task[BaseModel] = Task(task, output, [InputField("item", ITEM_CHARS)])
    return await executor.execute_batch(
        asked, [{"item": item} for item in items], packing, on_progress=on_progress
    )


def build_output_model(schema: Mapping[str, Any], name: str = "Output") -> type[BaseModel]:
    """Return the model of an object schema, or of a plain map from fields to their schemas.

    Raises InputError that names what cannot be understood.
    """
    if schema.get("type") == "object" and isinstance(schema.get("properties"), Mapping):
        properties, required = schema["properties"], schema.get("required", ())
    else:  # the short form: every field is wanted unless it says otherwise
        properties = schema
        required = [
            key
            for key, field in schema.items()
            if not isinstance(field, Mapping) or field.get("required") is not False
        ]
    if not properties:
        raise InputError("The output schema names no field.")
    fields: dict[str, Any] = {}
    for key, field in properties.items():
        if not isinstance(key, str) or not key.isidentifier() or key.startswith("_"):
            raise InputError(f"{key!r} cannot be the name of an output field.")
        kind = _type_of(field, key)
        described = field.get("description") if isinstance(field, Mapping) else None
        if key in required:
            fields[key] = (kind, Field(description=described))
        else:
            fields[key] = (Optional[kind], Field(default=None, description=described))  # noqa: UP045
    return create_model(name, __config__=ConfigDict(extra="forbid"), **fields)


def _type_of(field: object, key: str) -> Any:
    if not isinstance(field, Mapping):
        raise InputError(f"The schema of {key!r} is not an object such as {{'type': 'string'}}.")
    if choices := field.get("enum"):
        return Literal[tuple(choices)]
    kind = field.get("type", "string")
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if kind == "array":
        items = field.get("items")
        return list[Any] if items is None else list[_type_of(items, f"{key}[]")]  # type: ignore[misc]
    if kind == "object":
        nested = field.get("properties")
        return build_output_model(field, key.title()) if nested else dict[str, Any]
    raise InputError(f"{key!r} has the unknown type {kind!r}.")
