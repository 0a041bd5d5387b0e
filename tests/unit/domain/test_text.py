"""Texts that are shortened."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragforge.domain.text import shorten_words

WORDS = st.lists(st.text("abc…", min_size=1, max_size=6), min_size=1, max_size=60).map(" ".join)


@given(WORDS, st.integers(20, 200))
def test_a_text_is_cut_between_words(text: str, maximum: int) -> None:
    cut = shorten_words(text, maximum)
    assert len(cut) <= maximum
    if cut != text:
        assert set(cut.split()) <= {*text.split(), "…"}


@given(st.text(max_size=40), st.integers(0, 40))
def test_any_text_fits(text: str, maximum: int) -> None:
    assert len(shorten_words(text, maximum)) <= maximum
