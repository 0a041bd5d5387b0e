"""Prices: what a request would cost at the list prices that we know."""

from __future__ import annotations

from functools import cache
from typing import Any

from ragforge.domain.chat import UsageRecord

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
