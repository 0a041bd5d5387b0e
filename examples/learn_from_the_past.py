"""Have a chat model say what was learned in every past conversation of a directory.

    python examples/learn_from_the_past.py [DIRECTORY]

Needs a model: set llm.model, see docs/configuration.md. What it finds is stored as a separate
conversation, so that later questions find it too.
"""

from __future__ import annotations

import asyncio
import sys

from pydantic import BaseModel

from ragforge import Conversation, ConversationAgent, RagForgeError

TASK = "Say what this conversation was about, what was found out, and what is still to be done."


class Insight(BaseModel):
    main_topic: str
    key_findings: list[str]
    action_items: list[str]


async def as_item(conversation: Conversation) -> dict[str, object]:
    said = await conversation.get_history(limit=200, include_tool_calls=False)
    return {
        "title": conversation.facts.title,
        "said": [f"{message.role}: {message.content}" for message in said],
    }


async def main(directory: str) -> None:
    async with await ConversationAgent.open(cwd=directory) as agent:
        past = [one for one in await agent.list_conversations() if one.facts.turn_count]
        if not past:
            print("There are no conversations in this directory yet.")
            return
        result = await agent.batch_analyze([await as_item(one) for one in past], TASK, Insight)
        learned = await agent.create_conversation(title="What we learned", tags=["insights"])
        for outcome in result.outcomes:
            insight = outcome.output
            if not isinstance(insight, Insight):
                print(f"{past[outcome.index].facts.title}: {outcome.error}")
                continue
            lines = [*insight.key_findings, *(f"to do: {todo}" for todo in insight.action_items)]
            print(insight.main_topic, *lines, sep="\n  ")
            question = f"What did we learn about {insight.main_topic}?"
            await learned.store_turn(question, "\n".join(lines))


if __name__ == "__main__":
    try:
        asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "."))
    except RagForgeError as error:
        sys.exit(str(error))
