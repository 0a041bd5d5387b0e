"""Spend: count what models take, and stop at a cap."""

from __future__ import annotations

from ragforge.domain.chat import Usage
from ragforge.errors import SpendCapReached


class Meter:
    """Counts requests, tokens and money, for as long as it lives.

    What one counts its `whole` counts too, and the cap of each holds.
    """

    def __init__(self, cap_usd: float | None = None, whole: Meter | None = None) -> None:
        self._cap = cap_usd
        self._whole = whole
        self._total = Usage()

    @property
    def total(self) -> Usage:
        return self._total

    def check(self) -> None:
        """Raises SpendCapReached once the cap is spent. Call it before each request."""
        if self._whole is not None:
            self._whole.check()
        spent = self._total.usd or 0.0
        if self._cap is not None and spent >= self._cap:
            raise SpendCapReached(spent, self._cap)

    def add(self, usage: Usage) -> None:
        self._total = self._total + usage
        if self._whole is not None:
            self._whole.add(usage)
