"""Tool: a function with checked arguments, as something that a model may call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from ragforge.domain.chat import ToolSpec
from ragforge.domain.text import Json
from ragforge.errors import InputError
from ragforge.llm.calls import Tool
from ragforge.llm.prompts import load_prompt

PROMPTS = "ragforge.tools.prompts"


class Arguments(BaseModel):
    """What a tool is called with; each field is described to the model."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ToolOutput(Protocol):
    """What a tool returns to Python; a model gets its JSON."""

    def to_json(self) -> Json: ...


Given = TypeVar("Given", bound=Arguments)


def as_tool(
    name: str,
    arguments: type[Given],
    call: Callable[[Given], Awaitable[ToolOutput]],
    *,
    fixed: Mapping[str, Json] | None = None,
    prompts: str = PROMPTS,
    prompt_name: str | None = None,
    modifies_files: bool = False,
) -> Tool:
    """Return a tool that a model may call; `<name>.md` of the prompts describes it.

    `fixed` arguments are not offered to the model, and always have the given value.
    """
    decided = dict(fixed or {})

    async def run(given: Mapping[str, Json]) -> Json:
        offered = [field for field in arguments.model_fields if field not in decided]
        if unknown := [field for field in given if field not in offered]:
            raise InputError(f"{name} has no argument {unknown[0]!r}; it has {offered}.")
        return (await call(check_arguments(name, arguments, {**given, **decided}))).to_json()

    parameters = _drop_fields(_build_schema(arguments), decided)
    spec = ToolSpec(name, load_prompt(prompts, prompt_name or name), parameters)
    return Tool(spec, run, modifies_files)


def check_arguments(name: str, arguments: type[Given], given: Mapping[str, Json]) -> Given:
    """Return the arguments. Raises InputError that names the wrong ones and why."""
    try:
        return arguments.model_validate(given)
    except ValidationError as error:
        raise describe_wrong_arguments(name, error) from error


def describe_wrong_arguments(name: str, error: ValidationError) -> InputError:
    """Return the error that names the wrong arguments and why, for the model."""
    wrong = [
        f"{'.'.join(map(str, problem['loc'])) or 'arguments'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_input=False)
    ]
    return InputError(f"{name}: invalid arguments. {'; '.join(wrong)}.")


@cache
def _build_schema(arguments: type[Arguments]) -> dict[str, Any]:
    """Return the schema of arguments; every turn needs it, and it never changes."""
    return arguments.model_json_schema()


def _drop_fields(schema: dict[str, Any], decided: Mapping[str, Json]) -> dict[str, Any]:
    """Return the schema for a model: without titles and fixed arguments."""
    fields = {
        field: {key: value for key, value in about.items() if key != "title"}
        for field, about in schema.get("properties", {}).items()
        if field not in decided
    }
    required = [field for field in schema.get("required", []) if field in fields]
    inner = {"$defs": schema["$defs"]} if "$defs" in schema else {}
    return {
        "type": "object",
        "properties": fields,
        "required": required,
        "additionalProperties": False,
        **inner,
    }
