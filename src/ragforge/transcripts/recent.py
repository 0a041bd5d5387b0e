"""Recent: a bounded table that forgets what was put into it first."""

from __future__ import annotations

from collections.abc import ItemsView
from typing import Generic, TypeVar

from ragforge.domain.text import Json

V = TypeVar("V")


class Recent(Generic[V]):
    """Values by name, at most so many.

    What a transcript may refer back to has no bound. What is remembered of it is stored with
    every cursor, so it has one.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[str, V] = {}

    def get(self, name: str) -> V | None:
        return self._values.get(name)

    def put(self, name: str, value: V) -> None:
        """Keep a value as the newest."""
        self._values.pop(name, None)
        self._values[name] = value
        if len(self._values) > self._most:
            del self._values[next(iter(self._values))]

    def pop(self, name: str) -> V | None:
        return self._values.pop(name, None)

    def items(self) -> ItemsView[str, V]:
        """Return all, the oldest first."""
        return self._values.items()

    def save(self) -> Json:
        return dict(self._values)

    def load(self, state: Json) -> None:
        for name, value in state.items():
            self.put(name, value)
