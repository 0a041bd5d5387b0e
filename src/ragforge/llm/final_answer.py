"""Final answer: JSON that follows a schema of the user's, repaired by the model if it does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragforge.domain.chat import ChatRequest, JsonSchema, UserMessage
from ragforge.domain.json_schema import find_problems
from ragforge.domain.text import Json
from ragforge.errors import BadAnswer
from ragforge.llm.answers import read_json
from ragforge.llm.loop import Ask, OnRound, Round
from ragforge.llm.prompts import load_prompt

MAX_REPAIRS = 2
MAX_PROBLEMS = 10
"""How many problems of one answer the model is told."""


async def read_final_answer(
    ask: Ask, on_round: OnRound, request: ChatRequest, text: str, schema: JsonSchema
) -> Json:
    """Return the value of an answer; while it does not fit, ask the model to repair it.

    `request` is the conversation up to the answer. Raises BadAnswer after a few repairs.
    """
    for repairs_left in range(MAX_REPAIRS, -1, -1):
        value, problems = _read(text, schema)
        if not problems:
            return value
        if repairs_left:
            lines = "\n".join(f"- {problem}" for problem in problems)
            said = load_prompt("ragforge.llm.prompts", "repair", problems=lines, scope="")
            request = replace(
                request, messages=(*request.messages, UserMessage(said)), schema=schema
            )
            answer = (await ask(request)).message
            request, text = replace(request, messages=(*request.messages, answer)), answer.text
            await on_round(Round(text, answer.reasoning, ()))
    raise BadAnswer(
        f"The answer does not fit the schema, after {MAX_REPAIRS} repairs: {'; '.join(problems)}."
    )


def _read(text: str, schema: JsonSchema) -> tuple[Json, Sequence[str]]:
    try:
        value = read_json(text)
    except BadAnswer as error:
        return None, [str(error)]
    return value, find_problems(value, schema)[:MAX_PROBLEMS]
