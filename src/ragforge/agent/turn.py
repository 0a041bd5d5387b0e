"""The turn: record the question, gather context, answer, record the answer, queue the rest."""

from __future__ import annotations

from dataclasses import dataclass

from ragforge.context.gather import Budget, Context, gather
from ragforge.domain.turns import Turn
from ragforge.domain.work import NewJob
from ragforge.memory import record
from ragforge.memory.recall import Recall, TurnHit
from ragforge.ports.embedder import Embedder
from ragforge.ports.work import JobQueue

TITLE_JOB = "title"
EMBED_JOB = "embed_turns"
PASSAGES = 3


@dataclass(frozen=True, slots=True)
class Passage:
    """Something found that bears on the question, and where it stands."""

    text: str
    source: str
    score: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What a turn gave."""

    content: str
    conversation_id: str
    turn_index: int
    passages: tuple[Passage, ...]


async def take_turn(
    recall: Recall, jobs: JobQueue, conversation_id: str, question: str, budget: Budget
) -> Answer:
    """Answer a question. It is durable before anything else happens to it."""
    conversations = recall.store
    asked = await record.question(conversations, conversation_id, question)
    context = await gather(recall, conversation_id, asked.uuid, question, budget)
    passages = tuple(_passage(hit) for hit in context.found[:PASSAGES])
    content = _from_passages(context)
    await record.findings(conversations, conversation_id, asked.turn_index, content)
    await jobs.enqueue(_jobs_after(conversation_id, asked.uuid, recall.embedder))
    return Answer(content, conversation_id, asked.turn_index or 0, passages)


def _jobs_after(conversation_id: str, turn_id: str, embedder: Embedder | None) -> list[NewJob]:
    jobs = [NewJob(f"title:{conversation_id}", TITLE_JOB, conversation_id)]
    if embedder is not None:
        jobs.append(NewJob(f"embed-turn:{turn_id}:{embedder.name}", EMBED_JOB, [turn_id]))
    return jobs


def _from_passages(context: Context) -> str:
    """Answer without a chat model: cite what was found, by name."""
    cited = context.found[:PASSAGES]
    if not cited:
        return "Nothing in this project's memory bears on that yet. It is remembered from now on."
    count = "One past exchange bears" if len(cited) == 1 else f"{len(cited)} past exchanges bear"
    lines = [f"{count} on this:"]
    for number, hit in enumerate(cited, 1):
        lines.append(f"[{number}] {_source(hit)}")
    return "\n".join(lines)


def _passage(hit: TurnHit) -> Passage:
    return Passage(_quote(hit.turn), _source(hit), hit.score)


def _quote(turn: Turn) -> str:
    return f"{turn.user.content}\n{turn.answer}".strip()


def _source(hit: TurnHit) -> str:
    when = hit.turn.user.timestamp.strftime("%Y-%m-%d %H:%M")
    return f"turn {hit.turn.user.turn_index} of session {hit.conversation_id[:8]}, {when}"
