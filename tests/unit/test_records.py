"""Records behave as the dataclasses of the standard library do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, replace
from typing import Any

import pytest

from ragforge import records
from ragforge.domain.code import Scope
from ragforge.records import dataclass


def make_pair(**options: bool) -> tuple[Any, Any]:
    """Return one class made by the standard decorator, and the same by ours."""
    made = []
    for decorate in (dataclasses.dataclass, records.dataclass):

        class Place:
            """A place in a file."""

            path: str
            line: int = 1
            notes: list[str] = field(default_factory=list)
            seen: int = field(default=0, compare=False)
            text: str = field(default="", repr=False)

            def __post_init__(self) -> None:
                if self.line < 1:
                    raise ValueError("Lines begin at 1.")

        make: Callable[..., Callable[[type], type]] = decorate
        made.append(make(**options)(Place))
    return made[0], made[1]


STANDARD, OURS = make_pair(frozen=True, slots=True)


@dataclass(frozen=True, slots=True)
class Empty:
    """Without fields."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two numbers, of which processes send each other many."""

    left: int
    right: int


@dataclass(frozen=True, slots=True)
class Triple(Pair):
    """It inherits from a record."""

    last: int = 3


def test_a_record_is_made_shown_and_described_as_a_standard_dataclass() -> None:
    for arguments in ({"path": "a"}, {"path": "a", "line": 2, "notes": ["x"], "text": "y"}):
        ours, standard = OURS(**arguments), STANDARD(**arguments)
        assert repr(ours) == repr(standard)
        assert dataclasses.asdict(ours) == dataclasses.asdict(standard)
    assert str(inspect.signature(OURS)) == str(inspect.signature(STANDARD))
    assert OURS.__match_args__ == STANDARD.__match_args__
    assert OURS.__slots__ == STANDARD.__slots__
    assert OURS.__doc__ == "A place in a file."


@pytest.mark.parametrize("arguments", [{}, {"nosuch": 1}, {"path": "a", "line": 0}])
def test_bad_arguments_get_the_errors_of_a_standard_dataclass(arguments: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)) as expected:
        STANDARD(**arguments)
    with pytest.raises(type(expected.value)) as raised:
        OURS(**arguments)
    assert str(raised.value) == str(expected.value)


def test_every_record_has_its_own_default() -> None:
    assert OURS("a").notes is not OURS("a").notes


def test_records_are_equal_by_what_they_hold() -> None:
    assert Pair(1, 2) == Pair(1, 2)
    assert hash(Pair(1, 2)) == hash(Pair(1, 2))
    assert Pair(1, 2) != Pair(2, 1)
    assert Pair(1, 2) != (1, 2)
    assert Empty() == Empty()
    assert Empty() != Pair(1, 2)
    assert OURS("a", seen=1) == OURS("a", seen=2)


def test_a_record_does_not_change() -> None:
    pair: Any = Pair(1, 2)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'left'"):
        pair.left = 3
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'left'"):
        del pair.left
    with pytest.raises(AttributeError):
        pair.other = 3
    assert replace(pair, left=3) == Pair(3, 2)


def test_a_record_can_be_copied_and_sent_to_another_process() -> None:
    for make in (copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
        assert make(Pair(1, 2)) == Pair(1, 2)


def test_a_class_may_inherit_from_a_record() -> None:
    triple: Any = Triple(1, 2)
    assert repr(triple) == "Triple(left=1, right=2, last=3)"
    assert triple != Pair(1, 2)
    with pytest.raises(FrozenInstanceError):
        triple.left = 3


def test_other_dataclasses_are_left_to_the_standard_decorator() -> None:
    standard, ours = make_pair(slots=True)
    assert not ours.__dataclass_params__.frozen
    one, other = standard("a"), ours("a")
    one.line = other.line = 2
    assert repr(one) == repr(other)


def test_the_classes_of_the_domain_are_records() -> None:
    assert Scope.__setattr__ is Pair.__setattr__
