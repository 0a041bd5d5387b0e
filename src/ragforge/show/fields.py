"""Fields: frozen data as JSON objects, from a list of its fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from ragforge.domain.instants import format_instant


class Fields:
    """Makes a JSON object of frozen data: the named fields, in this order.

    A field `turn=touch.first_turn` has another name in JSON, and may be below other fields; below
    one that is None it is None. `chars=start,end` is a list of several fields. Of a field with a
    function, its value is passed to that, element by element if there are several; None stays
    None.
    """

    def __init__(self, names: str, **functions: Callable[[Any], object]) -> None:
        pairs = (name.partition("=") for name in names.split())
        self._paths = {key: (path or key).split(",") for key, _, path in pairs}
        self._functions = functions

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the fields in JSON."""
        return tuple(self._paths)

    def __call__(self, data: object) -> dict[str, Any]:
        return {key: self._read(data, key, paths) for key, paths in self._paths.items()}

    def _read(self, data: object, key: str, paths: list[str]) -> object:
        values = [_follow(data, path) for path in paths]
        value = values[0] if len(values) == 1 else values
        function = self._functions.get(key)
        if function is None or value is None:
            return _to_plain(value)
        if isinstance(value, list | tuple):
            return [function(one) for one in value]
        return function(value)


def _follow(data: object, path: str) -> object:
    for name in path.split("."):
        data = None if data is None else getattr(data, name)
    return data


def _to_plain(value: object) -> object:
    if isinstance(value, datetime):
        return format_instant(value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def round_score(score: float) -> float:
    """Return a score with as many digits as it is worth."""
    return round(score, 4)


def or_none(value: object) -> object:
    """Return a value, or None for one that is empty."""
    return value or None
