"""Queries of the user's own: what to run within which limits, and what it returned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TypeAlias

from ragforge.records import dataclass

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"
"""What a query returns, as JSON has it: dates and the like are text."""


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
    is_cut: bool = False  # there are more rows than were wanted
