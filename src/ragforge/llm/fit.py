"""Fit: shorten a conversation so that it fits the model's window."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ragforge.domain.chat import (
    AssistantMessage,
    ChatMessage,
    ChatRequest,
    ToolMessage,
    UserMessage,
)
from ragforge.domain.text import shorten
from ragforge.errors import ModelError

RESULTS = "# Results\n\n"
"""The beginning of results that a model without native tools receives as text."""
SHORT = 500
"""A result with fewer characters is not worth shortening."""
LEFT_OUT = "(What was found for this question is left out: the model's window is too short.)"


def fit_messages(messages: Sequence[ChatMessage], limit: int) -> tuple[ChatMessage, ...]:
    """Return the messages with the oldest results shortened, once all together are too long.

    The results of the model's last calls are kept. Results are shortened to half of `most`, so
    that it happens rarely: a provider's prompt cache needs an unchanged beginning.
    """
    sizes = [len(message.text) if _is_result(message) else 0 for message in messages]
    total = sum(sizes)
    if total <= limit:
        return tuple(messages)
    last = max(at for at, message in enumerate(messages) if isinstance(message, AssistantMessage))
    kept = list(messages)
    for at, message in enumerate(messages[:last]):
        if total <= limit // 2:
            break
        if sizes[at] > SHORT and isinstance(message, ToolMessage | UserMessage):
            kept[at] = replace(message, text=_replace_result(message.text))
            total -= sizes[at] - len(kept[at].text)
    return tuple(kept)


def shorten_request(request: ChatRequest) -> ChatRequest | None:
    """Return a shorter request, or None if nothing more can be left out.

    What was found for the question gives way first, then the older half of the turns before it,
    again and again, then the results of the running turn. The question and the turn before it
    stay.
    """
    return _drop_context(request) or _drop_turns(request) or _cut_results(request)


def _drop_context(request: ChatRequest) -> ChatRequest | None:
    messages = [
        UserMessage(f"{LEFT_OUT}\n\n{message.text[message.context_chars :]}", images=message.images)
        if isinstance(message, UserMessage) and message.context_chars > len(LEFT_OUT)
        else message
        for message in request.messages
    ]
    changed = messages != list(request.messages)
    return replace(request, messages=tuple(messages)) if changed else None


def _drop_turns(request: ChatRequest) -> ChatRequest | None:
    """Leave out the older half of the turns before the question; summaries count as one."""
    stable = request.stable or 0
    starts = [
        at
        for at, message in enumerate(request.messages[:stable])
        if isinstance(message, UserMessage) and not _is_result(message)
    ]
    if len(starts) < 2:
        return None
    first = starts[(len(starts) + 1) // 2]
    return replace(request, messages=request.messages[first:], stable=stable - first)


def _cut_results(request: ChatRequest) -> ChatRequest | None:
    """Halve the longest results, the last ones too: without them there is no next answer."""
    sizes = [len(message.text) for message in request.messages if _is_result(message)]
    limit = max(sizes, default=0) // 2
    if limit < SHORT:
        return None
    messages = [
        replace(message, text=shorten(message.text, limit))
        if isinstance(message, ToolMessage | UserMessage)
        and _is_result(message)
        and len(message.text) > limit
        else message
        for message in request.messages
    ]
    return replace(request, messages=tuple(messages))


def _is_result(message: ChatMessage) -> bool:
    if isinstance(message, UserMessage):
        return message.text.startswith(RESULTS)
    return isinstance(message, ToolMessage)


def _replace_result(text: str) -> str:
    lead = RESULTS if text.startswith(RESULTS) else ""
    return f"{lead}(A result of {len(text):,} characters that is no longer here. Ask again for it.)"


_ABOUT_IMAGES = re.compile(r"image|vision|multi-?modal|modalit|mmproj", re.IGNORECASE)


def has_images(request: ChatRequest) -> bool:
    return any(isinstance(one, UserMessage) and one.images for one in request.messages)


def drop_images(request: ChatRequest) -> ChatRequest:
    """Return the request without images."""
    messages = [
        replace(one, images=()) if isinstance(one, UserMessage) and one.images else one
        for one in request.messages
    ]
    return replace(request, messages=tuple(messages))


def says_no_images(error: ModelError) -> bool:
    """Tell whether a model may have refused a request because of its images."""
    return bool(_ABOUT_IMAGES.search(str(error)))
