"""Fit: shorten old tool results so that a conversation fits the model's window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragforge.domain.chat import AssistantMessage, ChatMessage, ToolMessage, UserMessage

RESULTS = "# Results\n\n"
"""How results begin that a model without native tools receives as text."""
SHORT = 500
"""A result of so few characters is not worth shortening."""


def fit_messages(messages: Sequence[ChatMessage], most: int) -> tuple[ChatMessage, ...]:
    """Return the messages with the oldest results shortened, once all together are too long.

    The results of the model's last calls are kept. Results are shortened to half of `most`, so
    that it happens rarely: a provider's prompt cache needs an unchanged beginning.
    """
    sizes = [len(message.text) if _is_result(message) else 0 for message in messages]
    total = sum(sizes)
    if total <= most:
        return tuple(messages)
    last = max(at for at, message in enumerate(messages) if isinstance(message, AssistantMessage))
    kept = list(messages)
    for at, message in enumerate(messages[:last]):
        if total <= most // 2:
            break
        if sizes[at] > SHORT and isinstance(message, ToolMessage | UserMessage):
            kept[at] = replace(message, text=_replace_result(message.text))
            total -= sizes[at] - len(kept[at].text)
    return tuple(kept)


def _is_result(message: ChatMessage) -> bool:
    if isinstance(message, UserMessage):
        return message.text.startswith(RESULTS)
    return isinstance(message, ToolMessage)


def _replace_result(text: str) -> str:
    lead = RESULTS if text.startswith(RESULTS) else ""
    return f"{lead}(A result of {len(text):,} characters that is no longer here. Ask again for it.)"
