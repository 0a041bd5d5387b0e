"""Doers: `loader.lua` answers how a plugin is loaded."""

from __future__ import annotations

import pytest

from ragforge.brain.search.code import group_with_doers
from ragforge.search.words.tokenise import WORDS


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("how plugins are loaded", "loader"),
        ("request logging", "RequestLogger"),
        ("how errors are formatted", "error_formatter"),
        ("writes CommonMark", "Writers"),
        ("how requests are handled", "RequestHandler"),
        ("where are arguments parsed", "ArgumentParser"),
    ],
)
def test_a_verb_is_grouped_with_what_does_it(question: str, name: str) -> None:
    in_name = set(WORDS.document(name).split())
    alone, grouped = WORDS.query(question), group_with_doers(WORDS.query(question))

    assert len(grouped) == len(alone)
    found = sum(not group.isdisjoint(in_name) for group in grouped)
    assert found > sum(word in in_name for word in alone)


@pytest.mark.parametrize("word", ["used", "heading", "folds", "io"])
def test_a_word_is_not_grouped_with_another_thing(word: str) -> None:
    (stem,) = WORDS.query(word)
    assert group_with_doers([stem]) == (frozenset([stem]),)
