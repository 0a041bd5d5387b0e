"""Windows: how much of a request fits into a model, counted in characters.

A window holds the instructions, the tools, what was found, the question, the results of tools and
the answer. What a model's tokens are is not known here, so characters are counted cautiously.
"""

from __future__ import annotations

from ragforge.records import dataclass

CHARS_A_TOKEN = 3
"""Fewer than in English prose: code, and most other languages, have more tokens."""
SMALL_TOKENS = 8_192
"""A window of up to this many tokens is small: every part of a request gets a share of it."""

# Shares of a small window in percent. With 4,096 tokens:         tokens  characters
TOOLS = 14  # what the model may do: read, change, run, search       573       1,720
CONTEXT = 32  # the project's own rules, history, what was found   1,310       3,932
CODE = 70  # of the context, before anything that is remembered      917       2,752
RESULTS = 22  # of tools, before the oldest are shortened            901       2,703
ANSWER = 18  # what the model writes at once                         737
# The rest, 14 percent, is for the system prompt, the question and the marks between messages.


@dataclass(frozen=True, slots=True)
class WindowShares:
    """Maximum number of characters of the parts of a request; None: no limit."""

    is_small: bool = False
    context: int | None = None
    code: int | None = None  # of the context
    tools: int | None = None  # their descriptions
    results: int | None = None  # of tools, before the oldest are shortened
    request: int | None = None  # all of it, without the answer
    answer: int | None = None  # in tokens

    @classmethod
    def of(cls, tokens: int | None) -> WindowShares:
        """Return the shares of a window."""
        if tokens is None:
            return cls()
        chars = tokens * CHARS_A_TOKEN
        if tokens > SMALL_TOKENS:
            return cls(context=chars // 3, tools=chars // 4, results=chars // 3)
        context = chars * CONTEXT // 100
        return cls(
            is_small=True,
            context=context,
            code=context * CODE // 100,
            tools=chars * TOOLS // 100,
            results=chars * RESULTS // 100,
            request=chars * (100 - ANSWER) // 100,
            answer=tokens * ANSWER // 100,
        )
