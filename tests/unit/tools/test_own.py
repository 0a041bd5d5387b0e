"""Own: functions of a program as tools."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from ragforge.errors import InputError
from ragforge.tools.function_tool import own_tool


class Point(BaseModel):
    x: int
    y: int = 0


@dataclass
class Deployed:
    service: str
    since: date


async def deployed(
    service: Annotated[str, Field(min_length=1, description="Its name")],
    where: Literal["test", "live"] = "live",
    at: Point | None = None,
) -> Deployed:
    """Tell since when a service is deployed.

    A second paragraph.
    """
    return Deployed(f"{service} {where} {at}", date(2026, 1, 2))


async def test_a_model_gets_to_know_name_docstring_and_parameters() -> None:
    spec = own_tool(deployed).spec

    assert spec.name == "deployed"
    assert spec.description == "Tell since when a service is deployed.\n\nA second paragraph."
    assert spec.parameters["properties"]["service"]["description"] == "Its name"
    assert spec.parameters["properties"]["where"]["enum"] == ["test", "live"]
    assert spec.parameters["required"] == ["service"]
    assert spec.parameters["additionalProperties"] is False


async def test_arguments_become_what_the_annotations_say_and_the_result_json() -> None:
    result = await own_tool(deployed).run({"service": "shop", "at": {"x": "3"}})

    assert result == {"service": "shop live x=3 y=0", "since": "2026-01-02"}


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({}, "service: Missing required argument"),
        ({"service": ""}, "service: String should have at least 1 character"),
        ({"service": "shop", "where": "here"}, "where: Input should be 'test' or 'live'"),
        ({"service": "shop", "at": {}}, "at.x: Field required"),
        ({"service": "shop", "more": 1}, "more: Unexpected keyword argument"),
    ],
)
async def test_bad_arguments_are_reported_to_the_model(given: dict[str, Any], wrong: str) -> None:
    with pytest.raises(InputError) as raised:
        await own_tool(deployed).run(given)

    assert str(raised.value) == f"deployed: invalid arguments. {wrong}."


async def test_a_function_that_is_not_async_runs_in_a_separate_thread() -> None:
    def where() -> str:
        """Tell the thread."""
        return threading.current_thread().name

    assert await own_tool(where).run({}) != threading.current_thread().name


async def test_what_the_function_itself_raises_is_not_taken_for_a_bad_call() -> None:
    async def strict() -> None:
        """Check something."""
        Point.model_validate({})

    with pytest.raises(ValueError, match="validation error for Point"):
        await own_tool(strict).run({})


async def test_a_method_of_an_object_is_a_tool_too() -> None:
    class Library:
        def __init__(self) -> None:
            self.books = ["Dune"]

        def find_book(self, title: str, *, exact: bool = True) -> bool:
            """Tell whether a book is here."""
            return title in self.books or not exact

    tool = own_tool(Library().find_book)

    assert list(tool.spec.parameters["properties"]) == ["title", "exact"]
    assert await tool.run({"title": "Dune"}) is True
    assert await tool.run({"title": "Emma", "exact": False}) is True


async def test_a_result_that_is_not_json_is_reported() -> None:
    def odd() -> object:
        """Return something odd."""
        return {"of": [Path("a"), object()]}

    with pytest.raises(InputError, match="odd returned something that is not JSON"):
        await own_tool(odd).run({})


def undescribed(text: str) -> str:
    return text


def x(text: str) -> str:
    """Measure."""
    return text


x.__name__ = "größe"


def many(*texts: str) -> str:
    """Join."""
    return "".join(texts)


def unnamed(text: str, /) -> str:
    """Join."""
    return text


def locked(lock: threading.Lock) -> None:
    """Take a lock."""


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (undescribed, "undescribed needs a docstring"),
        (x, "'größe' cannot be the name of a tool"),
        (lambda: 1, "'<lambda>' cannot be the name of a tool"),
        (many, "many has parameters that cannot be passed by name"),
        (unnamed, "unnamed has parameters that cannot be passed by name"),
        (locked, "locked has parameters that are not JSON"),
    ],
)
def test_what_no_model_could_call_is_refused_at_once(
    function: Callable[..., object], why: str
) -> None:
    with pytest.raises(InputError, match=why):
        own_tool(function)
