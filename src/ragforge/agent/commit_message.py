"""Commit message: drafted by a model from a diff, or a plain one."""

from __future__ import annotations

from collections.abc import Sequence

from ragforge.domain.chat import ChatRequest, UserMessage
from ragforge.domain.text import shorten
from ragforge.llm.ask import Asker
from ragforge.llm.prompts import load_prompt

DIFF_CHARS = 30_000
NAMED = 3


async def draft_message(asker: Asker, diff: str, earlier: str) -> str:
    """Return a message for a diff in the style of earlier ones. Raises ModelError.

    It is empty if the model says nothing.
    """
    asked = f"# Earlier messages\n\n{earlier}\n\n# Diff\n\n{shorten(diff, DIFF_CHARS)}"
    system = load_prompt("ragforge.agent.prompts", "commit_message")
    reply = await asker.ask(ChatRequest((UserMessage(asked),), system=system))
    return reply.message.text.strip().strip("`").strip()


def make_plain_message(files: Sequence[str]) -> str:
    """Return a message that names the files."""
    named = ", ".join(file.rpartition("/")[2] for file in files[:NAMED])
    more = len(files) - NAMED
    return f"Change {named}" + (f" and {more} more" if more > 0 else "")
