"""Aliases: other names for settings, which mean the same."""

from __future__ import annotations

import re
from collections.abc import Mapping

MEMORY = "agent.memory."
ALIASES: Mapping[str, str] = {
    "agent.memory.enable_summarization": "agent.memory.summarization.enabled",
    "agent.memory.summarize_every": "agent.memory.summarization.every_n_messages",
    "agent.memory.embed_messages": "agent.memory.embeddings.enabled",
    "agent.memory.embeddings.model": "embeddings.model",
    "agent.memory.embeddings.dimension": "embeddings.dimensions",
}
"""Another name → the key that it stands for."""

_CAPITAL = re.compile(r"(?<=[a-z0-9])[A-Z]")
_PROVIDERS = (
    (re.compile(r"(models/)?(text-embedding-00\d|gemini-embedding-\S+|embedding-00\d)"), "google"),
    (re.compile(r"text-embedding-(3-\w+|ada-\d+)"), "openai"),
)


def resolve_key(key: str) -> str:
    """Return the key that a name stands for: maxContextChars is max_context_chars."""
    snake = _CAPITAL.sub(lambda letter: f"_{letter[0].lower()}", key)
    return ALIASES.get(snake, snake)


def add_provider(model: object) -> object:
    """Return the name of an embedding model with its provider, where that is known by its name."""
    if isinstance(model, str):
        for pattern, provider in _PROVIDERS:
            if pattern.fullmatch(model):
                return f"{provider}:{model.removeprefix('models/')}"
    return model
