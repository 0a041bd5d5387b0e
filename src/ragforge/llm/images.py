"""Images of a request: they are removed for a model that does not accept them."""

from __future__ import annotations

import re
from dataclasses import replace

from ragforge.domain.chat import ChatRequest, UserMessage
from ragforge.errors import ModelError

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
