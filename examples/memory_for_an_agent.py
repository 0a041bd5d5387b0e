"""Give your own agent a memory: its turns are stored, and found when they matter.

    python examples/memory_for_an_agent.py [DIRECTORY]

Here the "agent" only says what it was given; put your own model in its place.
"""

from __future__ import annotations

import asyncio
import sys

from ragforge import Conversation, ConversationAgent, ToolCall, ToolResult

TALK = [
    ("We deploy on Fridays, from the branch `release`.", "Noted."),
    ("Which port does the payment service listen on?", "On 4711, see compose.yaml."),
    ("Who reviews changes of the schema?", "Two people, one of them from the data team."),
]
QUESTION = "When do we deploy, and from which branch?"


async def remembered(conversation: Conversation, question: str) -> str:
    """Return the parts of this conversation that are relevant to a question, for a prompt."""
    context = await conversation.build_context(
        strategy="hybrid", recent_messages=2, relevant_messages=3, query=question
    )
    lines = [f"{message.role}: {message.content}" for message in context.recent]
    lines += [f"earlier: {hit.turn.user.content} {hit.turn.answer}" for hit in context.relevant]
    return "\n".join(lines)


async def my_agent(prompt: str) -> str:
    return f"I know this much:\n{prompt}"


async def main(directory: str) -> None:
    async with await ConversationAgent.open(cwd=directory) as agent:
        conversation = await agent.create_conversation(title="Deployment", tags=["example"])
        for question, answer in TALK:
            looked = ToolCall("my_search", {"query": question}, ToolResult(True, [answer]))
            await conversation.store_turn(question, answer, tool_calls=[looked])

        answer = await my_agent(await remembered(conversation, QUESTION))
        await conversation.store_turn(QUESTION, answer)
        print(answer)

        [best, *_] = await conversation.search_history("Friday release", limit=1)
        print(f"\nFound again ({best.score:.2f}): {best.turn.user.content}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "."))
