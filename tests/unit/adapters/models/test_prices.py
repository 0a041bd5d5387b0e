"""Prices: what the library of prices says of each request, in a hundredth of its time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ragforge.adapters.models.known_models import estimate_price
from ragforge.domain.chat import UsageRecord

genai_prices = pytest.importorskip("genai_prices", reason="no extra with prices is installed")
DAY = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)


def request(model: str | None, *tokens: int) -> UsageRecord:
    return UsageRecord("talk", model, *tokens, created_at=DAY)


@pytest.mark.parametrize("size", [1_000, 150_000, 400_000])
@pytest.mark.parametrize(
    "model",
    [
        *("claude-sonnet-4-5-20250929", "claude-opus-4-1-20250805", "gpt-5-codex"),
        *("gemini-2.5-pro", "gpt-4o-mini", "kimi-k2"),
    ],
)
def test_a_price_is_that_of_the_library(model: str, size: int) -> None:
    record = request(model, size, 700, size // 2, size // 10)
    usage = genai_prices.Usage(
        input_tokens=size,
        output_tokens=700,
        cache_read_tokens=size // 2,
        cache_write_tokens=size // 10,
    )
    expected = genai_prices.calc_price(usage, model, genai_request_timestamp=DAY)
    assert estimate_price(record) == pytest.approx(float(expected.total_price))


@pytest.mark.parametrize("model", [None, "", "model-x", "ollama:gpt-4o-mini", "qwen3:8b"])
def test_a_model_without_a_known_price_has_none(model: str | None) -> None:
    assert estimate_price(request(model, 1_000, 10)) is None
