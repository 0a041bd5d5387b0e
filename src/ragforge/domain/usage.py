"""Usage records: what requests to models took, of which conversation and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from datetime import datetime

from ragforge.domain.chat import Usage
from ragforge.domain.instants import now
from ragforge.domain.text import new_id
from ragforge.records import dataclass


@dataclass(frozen=True, slots=True)
class UsageRecord:
    """One request of another agent, or all requests of one of RagForge's turns.

    `usd` is what the agent or the provider said that it cost.
    """

    conversation_id: str
    model: str | None
    input_tokens: int  # all of them
    output_tokens: int  # with those of the reasoning
    cached_tokens: int = 0  # of the input, read from the provider's cache
    written_tokens: int = 0  # of the input, written to the provider's cache
    requests: int = 1
    usd: float | None = None
    uuid: str = field(default_factory=new_id)
    created_at: datetime = field(default_factory=now)

    def to_usage(self, usd: float | None) -> Usage:
        """Return what can be added up, at a price."""
        return Usage(
            self.input_tokens,
            self.output_tokens,
            self.requests,
            usd,
            self.cached_tokens,
            self.written_tokens,
        )


@dataclass(frozen=True, slots=True)
class UsageFilter:
    """Which records to find; a field that is None does not restrict."""

    conversation_ids: Sequence[str] | None = None  # any of these
    since: datetime | None = None
    until: datetime | None = None
