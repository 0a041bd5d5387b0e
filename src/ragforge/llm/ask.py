"""Ask: one request to a model, with patience and within the spend cap."""

from __future__ import annotations

from dataclasses import dataclass, field

from ragforge.domain.chat import ChatRequest, Reply
from ragforge.llm.retry import Patience, patiently
from ragforge.llm.spend import Meter
from ragforge.ports.chat import ChatModel


@dataclass(frozen=True, slots=True)
class Asker:
    """A model, how patient to be with it, and what it may cost."""

    model: ChatModel
    patience: Patience = field(default_factory=Patience)
    meter: Meter = field(default_factory=Meter)

    async def ask(self, request: ChatRequest) -> Reply:
        """Return the model's answer. Raises ModelError."""

        async def once() -> Reply:
            self.meter.check()
            reply = await self.model.reply(request)
            self.meter.add(reply.usage)
            return reply

        return await patiently(once, self.patience)
