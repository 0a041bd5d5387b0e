"""The shares of a window add up, and a small one has a place for everything."""

from __future__ import annotations

import pytest

from ragforge.context.selection import Budget
from ragforge.domain.chat import CHARS_A_TOKEN, SMALL_TOKENS, WindowShares

BUDGET = Budget(total=100_000, queries=5_000, recent=10_000, code=10_000)


@pytest.mark.parametrize("tokens", [1_024, 4_096, SMALL_TOKENS])
def test_a_small_window_keeps_room_for_the_question_and_the_system_prompt(tokens: int) -> None:
    shares = WindowShares.of(tokens)
    parts = [shares.context, shares.tools, shares.results]
    taken = sum(filter(None, parts)) // CHARS_A_TOKEN + (shares.answer or 0)
    assert shares.is_small
    assert 0.1 * tokens < tokens - taken < 0.2 * tokens
    assert shares.request is not None
    assert shares.request // CHARS_A_TOKEN + (shares.answer or 0) <= tokens


def test_a_window_that_is_large_or_not_known_restricts_no_answer() -> None:
    for tokens in (None, SMALL_TOKENS + 1, 200_000):
        shares = WindowShares.of(tokens)
        assert (shares.is_small, shares.answer, shares.request) == (False, None, None)


def test_most_of_a_small_context_is_code_and_of_a_large_one_as_much_as_the_settings_say() -> None:
    small = BUDGET.shrink(WindowShares.of(4_096))
    assert (small.total, small.code, small.keeps_code) == (3_932, 2_752, True)
    large = BUDGET.shrink(WindowShares.of(32_768))
    assert (large.total, large.code, large.keeps_code) == (32_768, 3_276, False)
    assert BUDGET.shrink(WindowShares.of(None)) is BUDGET
