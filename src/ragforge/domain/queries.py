"""Queries: a user's query with its limits, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TypeAlias

from ragforge.errors import InputError
from ragforge.records import dataclass

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"
"""A value in a result, as in JSON: dates and the like are text."""
MAX_RESULT = 64_000_000
"""Bytes of all values of a result."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query in the store's own language, with the values of its `$parameters`."""

    text: str
    parameters: Mapping[str, Value] = field(default_factory=dict)
    max_rows: int = 1_000
    max_seconds: float = 30


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The rows of a query, with a value for each column."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    is_cut: bool = False  # there are more rows than the limit


class ResultSize:
    """Adds up the sizes of a result's values, and stops it before it fills the memory."""

    def __init__(self) -> None:
        self._bytes = 0

    def add(self, value: object) -> None:
        """Add a value with all its parts. Raises InputError if the result is too large."""
        if isinstance(value, str | bytes | bytearray):
            self._bytes += len(value)
        elif isinstance(value, Mapping):
            for name, item in value.items():
                self.add(name)
                self.add(item)
        elif isinstance(value, list | tuple):
            for item in value:
                self.add(item)
        else:
            self._bytes += 8
        if self._bytes > MAX_RESULT:
            raise InputError(
                f"The query returns more than {MAX_RESULT // 1_000_000} MB. Select fewer columns "
                "or rows, or parts of long values."
            )
