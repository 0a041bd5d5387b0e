"""Answers: from a chat model, or from the passages that were found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ragforge.brain.find import CodeHit
from ragforge.context.gather import Context
from ragforge.context.render import render
from ragforge.domain.chat import ChatRequest, Reply, Usage, UserSays
from ragforge.domain.turns import Turn
from ragforge.llm.ask import Asker
from ragforge.llm.prompts import prompt
from ragforge.memory.recall import TurnHit

PASSAGES = 3
CODE_PASSAGES = 5


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
    reasoning: str = ""
    model: str | None = None  # who wrote it; None: nobody, it is what was found
    problem: str | None = None  # why the model did not write it
    usage: Usage = field(default_factory=Usage)


async def by_model(chat: Asker, context: Context, question: str) -> Reply:
    """Have a model answer, with the context before the question. Raises ModelError."""
    known = render(context)
    text = f"{known}\n\n# Question\n\n{question}" if known else question
    system = prompt("ragforge.agent.prompts", "system")
    return await chat.ask(ChatRequest((UserSays(text),), system=system))


def written_into(answer: Answer, reply: Reply, model: str) -> Answer:
    """Return the answer with a model's words in place of what was found."""
    said = reply.message
    return replace(
        answer, content=said.text, reasoning=said.reasoning, model=model, usage=reply.usage
    )


def from_passages(context: Context) -> str:
    """Answer without a chat model: cite what was found, by name."""
    code, turns = context.code[:CODE_PASSAGES], context.found[:PASSAGES]
    if not code and not turns:
        return "Nothing in this project's memory bears on that yet. It is remembered from now on."
    lines = [f"{_bear(code, turns)} on this:"]
    for number, passage in enumerate(passages_of(context), 1):
        lines.append(f"[{number}] {passage.source}")
    return "\n".join(lines)


def _bear(code: Sequence[CodeHit], turns: Sequence[TurnHit]) -> str:
    """Return the beginning of a sentence: how much of what was found."""
    parts = []
    if code:
        parts.append(
            "one place in the code" if len(code) == 1 else f"{len(code)} places in the code"
        )
    if turns:
        parts.append("one past exchange" if len(turns) == 1 else f"{len(turns)} past exchanges")
    verb = "bears" if len(code) + len(turns) == 1 else "bear"
    text = f"{' and '.join(parts)} {verb}"
    return text[0].upper() + text[1:]


def passages_of(context: Context) -> tuple[Passage, ...]:
    """Return the best passages of a context."""
    code = [
        Passage(hit.scope.source, _place(hit), hit.score) for hit in context.code[:CODE_PASSAGES]
    ]
    turns = [Passage(_quote(hit.turn), _source(hit), hit.score) for hit in context.found[:PASSAGES]]
    return (*code, *turns)


def _place(hit: CodeHit) -> str:
    scope = hit.scope
    return f"{scope.file}:{scope.start_line}-{scope.end_line} {scope.qualified_name}"


def _quote(turn: Turn) -> str:
    return f"{turn.user.content}\n{turn.answer}".strip()


def _source(hit: TurnHit) -> str:
    when = hit.turn.user.timestamp.strftime("%Y-%m-%d %H:%M")
    return f"turn {hit.turn.user.turn_index} of session {hit.conversation_id[:8]}, {when}"
