"""Usage: store what requests to models took, with the conversation that they were for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime

from ragforge.domain.chat import Usage
from ragforge.domain.instants import now
from ragforge.domain.schema import USAGE
from ragforge.domain.text import new_id
from ragforge.domain.usage import UsageRecord
from ragforge.errors import ConversationNotFound
from ragforge.llm.spend import Requests, collect_requests
from ragforge.ports.store import Store


@asynccontextmanager
async def record_usage(store: Store, conversation_id: str) -> AsyncIterator[UsageRecorder]:
    """Store the requests that are made inside, unless their conversation is deleted meanwhile."""
    with collect_requests() as requests:
        recorder = UsageRecorder(store, conversation_id, requests)
        try:
            yield recorder
        finally:
            with suppress(ConversationNotFound):
                await recorder.save()


@dataclass(slots=True)
class UsageRecorder:
    """Stores the requests of a turn, or of a job, as one record for each model."""

    store: Store
    conversation_id: str
    requests: Requests
    _begun: datetime = field(default_factory=now)
    _ids: defaultdict[str, str] = field(default_factory=lambda: defaultdict(new_id))
    _saved: int = 0  # requests

    async def save(self) -> None:
        """Store all requests so far. Raises ConversationNotFound."""
        if len(self.requests) == self._saved:
            return
        saved = len(self.requests)
        by_model: defaultdict[str, Usage] = defaultdict(Usage)
        for model, usage in self.requests[:saved]:
            by_model[model] += usage
        records = [self._make_record(model, usage) for model, usage in by_model.items()]
        await self.store.records.put(USAGE, *records)
        self._saved = saved

    def _make_record(self, model: str, usage: Usage) -> UsageRecord:
        return UsageRecord(
            self.conversation_id,
            model,
            usage.input_tokens,
            usage.output_tokens,
            usage.cached_tokens,
            usage.written_tokens,
            usage.requests,
            usage.usd,
            self._ids[model],
            self._begun,
        )
