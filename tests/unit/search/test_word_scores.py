"""How well scopes and files fit words, without an index."""

from __future__ import annotations

from ragforge.domain.code import Scope
from ragforge.search.scope_words import score_counts, score_scopes, weigh_words
from ragforge.search.words.tokenise import WORDS


def make_scope(name: str, source: str) -> Scope:
    return Scope(name, name, "function", "a.py", 1, 2, source, "hash", uuid=name)


def test_a_word_in_fewer_files_is_worth_more() -> None:
    worth = weigh_words(["rare", "common"], {"a": {"rare": 1, "common": 9}, "b": {"common": 1}}, 9)
    assert worth["rare"] > worth["common"]


def test_a_file_with_more_of_the_words_comes_first_and_a_longer_one_later() -> None:
    worth = {"pay": 1.0, "card": 1.0}
    scores = score_counts(
        {"both": {"pay": 1, "card": 1}, "one": {"pay": 1}, "long": {"pay": 1}},
        {"both": 100, "one": 100, "long": 10_000},
        worth,
    )
    assert scores["both"] > scores["one"] > scores["long"]


def test_a_name_counts_more_than_a_source_and_others_are_left_out() -> None:
    named, inside = make_scope("card", "x = 1"), make_scope("other", "card = 1")
    found = score_scopes([inside, named, make_scope("none", "y = 2")], {"card": 1.0}, WORDS)
    assert [match.id for match in found] == ["card", "other"]
