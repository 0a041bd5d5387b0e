"""Common words: counted once, and anew when turns are gone."""

from __future__ import annotations

from ragforge.adapters.stores.sqlite.common_words import ROWS, SHARE, CommonWords, is_common


def test_in_a_small_store_no_word_is_common() -> None:
    assert not is_common(ROWS, ROWS)


def test_a_word_is_common_when_many_turns_and_a_large_share_hold_it() -> None:
    turns = ROWS * SHARE * 2
    assert is_common(turns // SHARE + 1, turns)
    assert not is_common(turns // SHARE, turns)


def test_common_words_are_remembered_until_turns_are_gone() -> None:
    common = CommonWords()
    turns = ROWS * SHARE
    assert common.known(["the", "lease"], turns) == {}

    common.learn({"the": turns // 2, "lease": 3})

    assert common.known(["the", "lease"], turns) == {"the": turns // 2}
    assert common.known(["the"], turns * SHARE) == {}  # it has grown rare among so many
    assert common.known(["the"], turns) == {}  # some were deleted
