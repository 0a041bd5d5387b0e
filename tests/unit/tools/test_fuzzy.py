"""Likeness: typos, styles, and lines of several words."""

from __future__ import annotations

import random
import re
import string

import pytest
from rapidfuzz.distance import OSA

from ragforge.tools import search_files


def like(query: str, word: str, threshold: float = 0.7) -> float:
    asked = search_files.read_query(query)
    near = search_files.compare_words(asked, [word], threshold)
    return search_files.score(asked, [near[word]]) if word in near else 0.0


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("authentification", "authentication"),
        ("recieve", "receive"),
        ("lenght", "length"),
        ("usrname", "userName"),
        ("conection", "CONNECTION"),
        ("midleware", "AuthMiddlewareMixin"),
        ("user name", "username"),
        ("getusername", "get_user_name"),
        ("HTTPServer", "http_server"),
        ("café", "cafés"),
        ("auth", "authenticate"),
    ],
)
def test_a_word_with_a_typo_is_found(query: str, word: str) -> None:
    assert like(query, word) >= 0.7


@pytest.mark.parametrize(
    ("query", "word"),
    [("authenticate", "automobile"), ("user", "uses_of"), ("cat", "car"), ("id", "identity")],
)
def test_another_word_is_not(query: str, word: str) -> None:
    assert like(query, word, 0.8) < 0.8


def test_the_same_word_is_1_in_any_case_and_style() -> None:
    assert like("userName", "user_name") == 1.0
    assert like("user name", "USERNAME") == 1.0


def test_a_typo_counts_less_than_none_and_more_than_a_word_that_only_holds_it() -> None:
    assert 1.0 > like("receive", "recieve") > like("receive", "receivership") > 0.7


def test_a_line_has_words_in_any_order_and_with_others_between() -> None:
    query = search_files.read_query("conection refused")
    words = ["refused", "the", "connection", "was"]
    near = search_files.compare_words(query, words, 0.7)

    assert search_files.score(query, [near[word] for word in words if word in near]) > 0.9
    assert search_files.score(query, [near["connection"]]) < 0.7


def test_a_query_without_words_is_empty() -> None:
    assert not search_files.read_query("--- !! _").words


@pytest.mark.parametrize("threshold", [0.7, 0.8, 0.9])
def test_the_pieces_of_a_word_find_all_words_that_substitutions_and_losses_make_of_it(
    threshold: float,
) -> None:
    dice = random.Random(7)
    for _ in range(500):
        word = "".join(dice.choices(string.ascii_lowercase[:8], k=dice.randrange(4, 18)))
        other = list(word)
        for _ in range(int((1 - threshold) * len(word) + 1e-9)):
            place = dice.randrange(len(other))
            if dice.random() < 0.5:
                other[place] = dice.choice("xyz")
            elif len(other) > 1:
                del other[place]
        spoilt = "".join(other)
        if OSA.normalized_similarity(word, spoilt) >= threshold:
            regex = search_files.build_regex(search_files.read_query(word), threshold)
            assert re.fullmatch(regex, f"the{spoilt}s"), (word, spoilt)


def test_the_words_no_line_can_do_without_are_the_rare_ones() -> None:
    query = search_files.read_query("serialization user")

    assert search_files.choose_needed(query, [10, 5000, 0], 0.7) == {0, 2}
    assert search_files.choose_needed(query, [10, 5000, 0], 0.2) == {0, 1, 2}
