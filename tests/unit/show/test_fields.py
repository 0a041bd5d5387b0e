"""Fields: frozen data as JSON objects."""

from __future__ import annotations

import typing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ragforge import events
from ragforge.show.console import Fields, or_none, round_score
from ragforge.show.events import _EVENTS


@dataclass(frozen=True)
class Part:
    name: str


@dataclass(frozen=True)
class Whole:
    first: int = 1
    last: int = 2
    part: Part | None = None
    parts: tuple[Part, ...] = (Part("a"), Part("b"))
    when: datetime = datetime(2026, 1, 2, tzinfo=UTC)
    path: Path = Path("/a")
    problem: str = ""


def test_fields_have_their_order_and_their_names() -> None:
    assert list(Fields("last number=first")(Whole()).items()) == [("last", 2), ("number", 1)]


def test_a_field_below_none_is_none() -> None:
    read = Fields("name=part.name")

    assert read(Whole()) == {"name": None}
    assert read(Whole(part=Part("x"))) == {"name": "x"}


def test_several_fields_are_a_list() -> None:
    assert Fields("lines=first,last")(Whole()) == {"lines": [1, 2]}


def test_times_paths_and_tuples_are_plain() -> None:
    read = Fields("when path parts", parts=Fields("name"))

    assert read(Whole()) == {
        "when": "2026-01-02T00:00:00.000+00:00",
        "path": "/a",
        "parts": [{"name": "a"}, {"name": "b"}],
    }


def test_a_function_receives_values_but_not_none() -> None:
    read = Fields(
        "first part problem", first=lambda one: one / 3, part=round_score, problem=or_none
    )

    assert read(Whole()) == {"first": 1 / 3, "part": None, "problem": None}


def test_every_event_can_be_written() -> None:
    assert set(_EVENTS) == set(typing.get_args(events.Event))
