"""Common words: counted once, and anew when turns are gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge.adapters.stores.sqlite import common_words
from ragforge.adapters.stores.sqlite.common_words import ROWS, SHARE, CommonWords, is_common
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.conversations import MemoryFilter
from ragforge.search.tokenise import WORDS
from tests.fakes.builders import conversation, user


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


async def test_a_common_word_is_looked_for_where_nothing_rarer_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(common_words, "ROWS", 2)
    store = await open_sqlite(tmp_path / "store.db", WORDS)
    for project, text in (("/a", "common words"), ("/b", "common zebra lion")):
        await store.conversations.create(conversation(project, uuid=project))
        await store.conversations.append(project, [user(text) for _ in range(3)])
    holding = store.conversations.turns_holding

    there = await holding("common zebra lion", MemoryFilter(project_path="/b"), 9, reach=0)
    here = await holding("common zebra lion", MemoryFilter(project_path="/a"), 9, reach=0)

    assert there.counts == {"zebra": 3, "lion": 3}
    assert here.counts == {"common": 3}
    await store.close()
