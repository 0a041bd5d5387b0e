"""Spend: count tokens and money, and stop at a cap."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

from ragforge.domain.chat import Usage
from ragforge.errors import SpendCapReached

Requests: TypeAlias = list[tuple[str, Usage]]
"""The models that were asked, and what that took."""
_COLLECTED: ContextVar[Requests | None] = ContextVar("collected", default=None)


@contextmanager
def collect_requests() -> Iterator[Requests]:
    """Collect the requests to chat models that are made here and in tasks that begin here."""
    requests: Requests = []
    token = _COLLECTED.set(requests)
    try:
        yield requests
    finally:
        _COLLECTED.reset(token)


def note_request(model: str, usage: Usage) -> None:
    """Add a request to those that are being collected."""
    if (requests := _COLLECTED.get()) is not None:
        requests.append((model, usage))


class Meter:
    """Counts requests, tokens and money.

    Its `parent` counts the same requests too; both caps apply.
    """

    def __init__(self, cap_usd: float | None = None, parent: Meter | None = None) -> None:
        self._cap = cap_usd
        self._parent = parent
        self._total = Usage()

    @property
    def total(self) -> Usage:
        return self._total

    def check(self) -> None:
        """Raises SpendCapReached once the cap is spent. Call it before each request."""
        if self._parent is not None:
            self._parent.check()
        spent = self._total.usd or 0.0
        if self._cap is not None and spent >= self._cap:
            raise SpendCapReached(spent, self._cap)

    def add(self, usage: Usage) -> None:
        self._total = self._total + usage
        if self._parent is not None:
            self._parent.add(usage)
