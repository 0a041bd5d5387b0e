"""Common words: counted once, and again when turns are deleted."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from ragforge.adapters.stores.sqlite import words
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.adapters.stores.sqlite.words import (
    ROWS,
    SHARE,
    CommonWords,
    is_common,
    pick_rarest,
    pick_telling,
)
from ragforge.domain.code import CodeFilter
from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.hits import WordMatches
from ragforge.domain.schema import CONVERSATION, PROJECT
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from tests.fakes.builders import conversation, parsed, project, scope, user
from tests.fakes.code import find_by_words


def test_in_a_small_store_no_word_is_common() -> None:
    assert not is_common(ROWS, ROWS)


def test_a_word_is_common_when_many_turns_and_a_large_share_hold_it() -> None:
    turns = ROWS * SHARE * 2
    assert is_common(turns // SHARE + 1, turns)
    assert not is_common(turns // SHARE, turns)


def test_the_rarest_of_many_words_are_kept_while_few_rows_contain_them() -> None:
    counts = {"the": 900, "lease": 3, "holder": 40, "lock": 70}

    assert pick_rarest(counts, rows=100) == ["lease", "holder"]
    assert pick_rarest(counts, rows=113) == ["lease", "holder", "lock"]
    assert pick_rarest(counts, rows=1) == ["lease", "holder"]


def indexed(texts: dict[str, int]) -> apsw.Connection:
    """Return an index that contains each text this many times."""
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE some_words USING fts5 (words)")
    connection.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab (some_words, 'row')")
    for text, times in texts.items():
        connection.executemany("INSERT INTO some_words VALUES (?)", [(text,)] * times)
    return connection


def test_common_words_are_remembered_until_texts_are_gone() -> None:
    texts = ROWS * SHARE
    connection = indexed({"the": 2 * ROWS, "lease": 3})
    common = CommonWords("vocabulary")
    assert common.counts(connection, ["the", "lease", "never"], texts) == {
        "the": 2 * ROWS,
        "lease": 3,
    }

    connection.execute("DELETE FROM some_words WHERE rowid % 2")

    assert common.counts(connection, ["the"], texts) == {"the": 2 * ROWS}  # as it was counted
    assert common.counts(connection, ["the"], texts * SHARE) == {"the": ROWS}  # it has grown rare
    assert common.counts(connection, ["the"], texts) == {"the": ROWS}  # some were deleted


def test_common_words_are_worth_a_search_only_next_to_few_rarer_ones() -> None:
    many = 5 * ROWS

    assert pick_telling({"the": many, "lease": 3, "lock": 2}, many) == ["lock", "lease"]
    assert pick_telling({"the": many, "and": many - 1, "lease": 3}, many) == ["lease", "and"]
    assert pick_telling({"the": many}, many) == ["the"]
    assert pick_telling({}, many) == []


async def test_scopes_that_hold_only_a_common_word_give_way_to_rarer_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "ROWS", 2)
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    await store.records.put(PROJECT, project(uuid="p"))
    sources = ["common", "common", "common zebra", "lion"]
    scopes = [scope(f"name{n}", uuid=f"s{n}", source=text) for n, text in enumerate(sources)]
    await store.code.replace_files("p", [parsed("src/cart.py", *scopes)])

    async def found(question: str) -> set[str]:
        matches = await find_by_words(store, question, CodeFilter(project_id="p"), 9)
        return {match.id for match in matches}

    assert await found("common zebra lion") == {"s2", "s3"}
    assert await found("common") == {"s0", "s1", "s2"}
    assert await found("common giraffe") == {"s0", "s1", "s2"}
    await store.close()


async def test_a_common_word_is_searched_if_there_is_nothing_rarer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "ROWS", 2)
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    for place, text in (("/a", "common words"), ("/b", "common zebra lion")):
        await store.records.put(CONVERSATION, conversation(place, uuid=place))
        await store.timeline.append(place, [user(text) for _ in range(3)])

    async def matching(query: str, where: MemoryFilter, limit: int, reach: int) -> WordMatches:
        return (await store.index.match_turns(query, where, limit, reach))[0]

    there = await matching("common zebra lion", MemoryFilter(project_ids=["/b"]), 9, reach=1)
    here = await matching("common zebra lion", MemoryFilter(project_ids=["/a"]), 9, reach=1)

    assert there.counts == {"zebra": 3, "lion": 3}
    assert here.counts == {"common": 3}
    await store.close()
