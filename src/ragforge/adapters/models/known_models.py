"""Known models: how many tokens they take, and what their requests would cost at list prices."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from ragforge.domain.chat import UsageRecord

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


MILLION = 1_000_000


def estimate_price(record: UsageRecord) -> float | None:
    """Return what a request would have cost on its day; None if its price is not known.

    It is computed here: the library takes a hundred times as long for each request.
    """
    if record.model is None or (found := _find_model(record.model)) is None:
        return None
    prices = found.get_prices(record.created_at)
    sent = record.input_tokens
    into = _find_rate(prices, "input_mtok", sent)
    out = _find_rate(prices, "output_mtok", sent)
    if into is None or out is None:
        return None
    read = _find_rate(prices, "cache_read_mtok", sent)
    write = _find_rate(prices, "cache_write_mtok", sent)
    plain = max(sent - record.cached_tokens - record.written_tokens, 0)
    return (
        plain * into
        + record.cached_tokens * (into if read is None else read)
        + record.written_tokens * (into if write is None else write)
        + record.output_tokens * out
    ) / MILLION


@cache
def _find_model(name: str) -> Any:
    """Return the model with its prices, whoever serves it; None if the library lacks it.

    A name with a provider is one of RagForge's, which knows the price from its answer.
    """
    if ":" in name:
        return None
    try:
        from genai_prices import data_snapshot

        _, found = data_snapshot.get_snapshot().find_provider_model(name, None, None, None)
    except (ImportError, LookupError):
        return None
    return found


def _find_rate(prices: Any, name: str, sent: int) -> float | None:
    """Return a price per million tokens; with tiers, that of a request of this size."""
    price = getattr(prices, name, None)
    if price is None:
        return None
    reached = [tier.price for tier in getattr(price, "tiers", ()) if sent > tier.start]
    return float(reached[-1] if reached else getattr(price, "base", price))
