"""Windows: how many tokens a model takes, by a list of known models or by asking its server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:
    from httpx2 import AsyncClient

LOOK_SECONDS = 2.0
"""A busy machine answers late; an unknown window costs a refused request."""
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def is_on_this_machine(base_url: str | None) -> bool:
    """Tell whether an address is one of this machine."""
    return base_url is not None and urlsplit(base_url).hostname in _LOOPBACK


def find_known_window(provider: str, model: str) -> int | None:
    """Return the window of a provider's model, as the list of prices that we use knows it."""
    try:
        from genai_prices import data_snapshot

        _, found = data_snapshot.get_snapshot().find_provider_model(model, None, provider, None)
    except (ImportError, LookupError, AttributeError):
        return None
    return found.context_window


async def ask_window(http: AsyncClient, base_url: str, model: str) -> int | None:
    """Ask a server on this machine for a model's window; each kind has a different answer."""
    parts = urlsplit(base_url)
    root = f"{parts.scheme}://{parts.netloc}"
    looks: tuple[tuple[str, Callable[[Any], Iterator[Any]]], ...] = (
        (f"{base_url.rstrip('/')}/models", lambda said: _read_models(said, model)),
        (f"{root}/props", _read_props),
        (f"{root}/api/ps", lambda said: _read_running(said, model)),
        (f"{root}/api/v0/models/{quote(model)}", _read_loaded),
    )
    found = await asyncio.gather(*(_look(http, url, read) for url, read in looks))
    return next((window for window in found if window is not None), None)


async def _look(http: AsyncClient, url: str, read: Callable[[Any], Iterator[Any]]) -> int | None:
    import httpx2

    try:
        said = (await http.get(url, timeout=LOOK_SECONDS)).raise_for_status().json()
        numbers = [number for number in read(said) if isinstance(number, int) and number > 0]
    except (httpx2.HTTPError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return numbers[0] if numbers else None


def _read_models(said: Any, model: str) -> Iterator[Any]:
    """vLLM and llama.cpp list the window with each model."""
    for one in said["data"]:
        if one["id"] == model:
            yield one.get("max_model_len")
            yield (one.get("meta") or {}).get("n_ctx")


def _read_props(said: Any) -> Iterator[Any]:
    """llama.cpp has one model, with the window that it was started with."""
    yield said["default_generation_settings"]["n_ctx"]


def _read_running(said: Any, model: str) -> Iterator[Any]:
    """Ollama knows the window of a model that is loaded, and cuts longer requests silently."""
    names = {model, f"{model}:latest"}
    yield from (one.get("context_length") for one in said["models"] if one["model"] in names)


def _read_loaded(said: Any) -> Iterator[Any]:
    """LM Studio."""
    yield said.get("loaded_context_length")
    yield said.get("max_context_length")
