"""Show what RagForge would put in front of a model for a question, and why each part is in it.

python examples/context_for_a_question.py "Where is the lease renewed?" [DIRECTORY]
"""

from __future__ import annotations

import asyncio
import sys

from ragforge import ConversationAgent


async def main(question: str, directory: str) -> None:
    async with await ConversationAgent.open(cwd=directory) as agent:
        if not await agent.app.code.is_ingested():
            print("Reading the project's code, once.", file=sys.stderr)
            await agent.ingest()
        known = await agent.list_conversations(limit=1)
        conversation = known[0] if known else await agent.create_conversation()

        context = await conversation.build_enriched_context(question)

    print(context.text)
    receipt = context.receipt
    print(f"\n{receipt.chars:,} of {receipt.max_chars:,} characters:")
    for item in receipt.items:
        print(f"  {item.section:<18} {item.chars:>6}  {item.source}: {item.why}")
    for one in receipt.left_out:
        print(f"  left out           {one.source}: {one.why}")
    for search in receipt.searches:
        print(f"  {search.state:<18} {search.milliseconds:>4} ms  {search.name}: {search.found}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    asyncio.run(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "."))
