"""Ask: one request to a model, with retries and within the spend cap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TypeAlias

from ragforge.domain.chat import ChatRequest, ReasoningDelta, Reply, TextDelta
from ragforge.errors import AnswerInterrupted, BadAnswer, ModelError
from ragforge.llm.retry import OnRetry, RetryPolicy, ignore_retry, with_retries
from ragforge.llm.spend import Meter
from ragforge.ports.chat import ChatModel
from ragforge.records import dataclass

OnPiece: TypeAlias = Callable[[TextDelta | ReasoningDelta], None]


@dataclass(frozen=True, slots=True)
class ChatClient:
    """A model with its retry policy and its spend cap."""

    model: ChatModel
    patience: RetryPolicy = field(default_factory=RetryPolicy)
    meter: Meter = field(default_factory=Meter)
    on_retry: OnRetry = ignore_retry

    async def ask(self, request: ChatRequest) -> Reply:
        """Return the model's answer. Raises ModelError."""

        async def once() -> Reply:
            self.meter.check()
            reply = await self.model.reply(request)
            self.meter.add(reply.usage)
            return reply

        return await with_retries(once, self.patience, on_retry=self.on_retry)

    async def stream(self, request: ChatRequest, on_piece: OnPiece) -> Reply:
        """Return the model's answer, and report its pieces as they come. Raises ModelError.

        Once a piece was reported there are no retries: it would be reported twice.
        AnswerInterrupted then.
        """

        async def once() -> Reply:
            self.meter.check()
            reported = False
            try:
                async for event in self.model.stream(request):
                    if isinstance(event, Reply):
                        self.meter.add(event.usage)
                        return event
                    reported = True
                    on_piece(event)
            except ModelError as error:
                if reported:
                    raise AnswerInterrupted(str(error)) from error
                raise
            raise BadAnswer(f"{self.model.name} ended its answer without a word.")

        return await with_retries(once, self.patience, on_retry=self.on_retry)
