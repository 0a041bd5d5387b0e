"""Spend: count tokens and money, and stop at a cap."""

from __future__ import annotations

from ragforge.domain.chat import Usage
from ragforge.errors import SpendCapReached


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
