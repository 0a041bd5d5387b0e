"""The turn: record the question, gather context, answer, record the answer, queue the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ragforge.agent.answer import Answer, by_model, from_passages, passages_of, written_into
from ragforge.brain.project import Brain
from ragforge.context.gather import Budget, gather
from ragforge.domain.work import NewJob
from ragforge.errors import ModelError
from ragforge.llm.ask import Asker
from ragforge.memory import record
from ragforge.memory.recall import Recall
from ragforge.ports.embedder import Embedder
from ragforge.ports.work import JobQueue

TITLE_JOB = "title"
EMBED_JOB = "embed_turns"


@dataclass(frozen=True, slots=True)
class Agent:
    """Takes turns: with a chat model, or with what it finds alone."""

    recall: Recall
    brain: Brain
    jobs: JobQueue
    chat: Asker | None
    budget: Budget

    async def take_turn(self, conversation_id: str, question: str) -> Answer:
        """Answer a question. It is durable before anything else happens to it.

        A model that fails does not break the turn: what was found is the answer then.
        """
        store = self.recall.store
        asked = await record.question(store, conversation_id, question)
        context = await gather(
            self.recall, self.brain, conversation_id, asked.uuid, question, self.budget
        )
        answer = Answer(
            content=from_passages(context),
            conversation_id=conversation_id,
            turn_index=asked.turn_index or 0,
            passages=passages_of(context),
        )
        if self.chat is not None:
            try:
                reply = await by_model(self.chat, context, question)
                answer = written_into(answer, reply, self.chat.model.name)
            except ModelError as error:
                answer = replace(answer, problem=str(error))
        await record.answer(
            store,
            conversation_id,
            asked.turn_index,
            answer.content,
            reasoning=answer.reasoning,
            by_model=answer.model is not None,
        )
        await self.jobs.enqueue(_jobs_after(conversation_id, asked.uuid, self.recall.embedder))
        return answer


def _jobs_after(conversation_id: str, turn_id: str, embedder: Embedder | None) -> list[NewJob]:
    jobs = [NewJob(f"title:{conversation_id}", TITLE_JOB, conversation_id)]
    if embedder is not None:
        jobs.append(NewJob(f"embed-turn:{turn_id}:{embedder.name}", EMBED_JOB, [turn_id]))
    return jobs
