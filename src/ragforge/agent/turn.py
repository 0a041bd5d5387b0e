"""The turn: record the question, build the context, answer, record the answer, queue the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ragforge.agent.answer import Answer, by_model, from_passages, passages_of, written_into
from ragforge.context.build import ContextBuilder
from ragforge.errors import ModelError
from ragforge.llm.ask import Asker
from ragforge.memory.record import Recorder


@dataclass(frozen=True, slots=True)
class Agent:
    """Takes turns: with a chat model, or with what it finds alone."""

    builder: ContextBuilder
    recorder: Recorder
    chat: Asker | None

    async def take_turn(self, conversation_id: str, question: str) -> Answer:
        """Answer a question. It is durable before anything else happens to it.

        A model that fails does not break the turn: what was found is the answer then.
        """
        asked = await self.recorder.question(conversation_id, question)
        conversation = await self.recorder.store.conversations.get(conversation_id)
        # What was stored has no secrets in it: searches and their receipt must not either.
        context = await self.builder.build_enriched_context(conversation, asked.content, asked.uuid)
        answer = Answer(
            content=from_passages(context),
            conversation_id=conversation_id,
            turn_index=asked.turn_index or 0,
            passages=passages_of(context),
            receipt=context.receipt,
        )
        if self.chat is not None:
            try:
                reply = await by_model(self.chat, context, question)
                answer = written_into(answer, reply, self.chat.model.name)
            except ModelError as error:
                answer = replace(answer, problem=str(error))
        await self.recorder.answer(
            conversation_id,
            asked.turn_index,
            answer.content,
            reasoning=answer.reasoning,
            receipt=context.receipt.to_json(),
            by_model=answer.model is not None,
        )
        await self.recorder.end_turn(conversation_id, asked.uuid)
        return answer
