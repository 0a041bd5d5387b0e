"""A process that writes and says what was acknowledged: the victim of the fault tests.

python -m tests.faults.writer messages STORE CONVERSATION NAME COUNT
python -m tests.faults.writer turns STORE CONVERSATION NAME
"""

from __future__ import annotations

import asyncio
import sys
from itertools import count

from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.conversations import Message, ToolCall, ToolResult
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.ports.store import Store
from ragforge.search.words.tokenise import WORDS


async def write_messages(store: Store, conversation: str, name: str, amount: int) -> None:
    """Append messages one by one, as a talking user and assistant do."""
    for number in range(amount):
        role = "user" if number % 2 == 0 else "assistant"
        await store.timeline.append(conversation, [Message(role, f"{name} {number}")])


async def write_turns(store: Store, conversation: str, name: str) -> None:
    """Append whole turns until killed; print the id of each once it is durable."""
    for number in count():
        question = Message("user", f"{name} asks {number}")
        call = ToolCall("grep_files", {"n": number}, ToolResult(True, "x" * (number % 5_000)))
        work = Message("assistant", "", tool_calls=(call,))
        answer = Message("assistant", f"{name} answers {number}")
        await store.timeline.append(conversation, [question, work, answer])
        print(question.uuid, flush=True)


async def main(kind: str, path: str, conversation: str, name: str, amount: str = "0") -> None:
    store = await open_sqlite(path, WORDS, REDACTOR)
    if kind == "messages":
        await write_messages(store, conversation, name, int(amount))
    else:
        await write_turns(store, conversation, name)
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
