"""Function tools: functions of a program that embeds RagForge, as tools for the model."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, cast, get_type_hints

from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import ArgsKwargs, PydanticSerializationError, to_jsonable_python

from ragforge.domain.chat import ToolSpec
from ragforge.domain.text import Json
from ragforge.errors import InputError
from ragforge.llm.calls import Tool
from ragforge.tools.tool import describe_wrong_arguments

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")  # what every provider takes


def own_tool(function: Callable[..., Any]) -> Tool:
    """Return a function as a tool that a model may call without permission.

    The model sees its name, docstring and parameters; arguments are checked against the
    annotations. A function that is not async runs in a thread. It returns anything that
    pydantic can write as JSON. Raises InputError if a model could not call it.
    """
    name = getattr(function, "__name__", type(function).__name__)
    description = inspect.getdoc(function)
    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r} cannot be the name of a tool: letters, digits and _ only.")
    if not description:
        raise InputError(f"{name} needs a docstring: it explains the tool to the model.")
    adapter = _build_adapter(name, function)

    async def run(given: Mapping[str, Json]) -> Json:
        try:
            words, named = adapter.validate_python(ArgsKwargs((), dict(given)))
        except ValidationError as error:
            raise describe_wrong_arguments(name, error) from error
        if inspect.iscoroutinefunction(function):
            result = await function(*words, **named)
        else:
            result = await asyncio.to_thread(function, *words, **named)
        try:
            return to_jsonable_python(result)
        except PydanticSerializationError as error:
            raise InputError(f"{name} returned something that is not JSON: {error}") from error

    return Tool(ToolSpec(name, description, adapter.json_schema()), run)


def _build_adapter(name: str, function: Callable[..., Any]) -> TypeAdapter[Any]:
    """Return what checks a function's arguments, without calling it."""

    @wraps(function)
    def collect(*words: Any, **named: Any) -> Any:
        return words, named

    kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
    if not kinds <= {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}:
        raise InputError(f"{name} has parameters that cannot be passed by name, as a model does.")
    try:
        collect.__annotations__ = get_type_hints(function, include_extras=True)
        adapter: TypeAdapter[Any] = TypeAdapter(cast("Any", collect))
        adapter.json_schema()
    except (PydanticUserError, NameError) as error:
        raise InputError(f"{name} has parameters that are not JSON: {error}") from error
    return adapter
