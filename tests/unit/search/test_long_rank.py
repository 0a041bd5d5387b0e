"""Long rank: which scope comes first for the text of an issue."""

from __future__ import annotations

from collections.abc import Sequence

from ragforge.domain.code import ScopeMatch, ScopeName
from ragforge.domain.vectors import MeaningWeights
from ragforge.search import rank
from ragforge.search.long_question import LONG, LongQuestion, LongScorer
from ragforge.search.rank import Candidates
from ragforge.search.words.tokenise import WORDS

FILLING = "and so on " * LONG


def scope(place: str, type_: str = "function", line: int = 1) -> ScopeName:
    """Return a scope known by its place, such as `src/cart.py:Cart.add`, which is its id too."""
    file, _, name = place.partition(":")
    return ScopeName(place, name.rpartition(".")[2], name, type_, file, line, line + 1, "")


def order(text: str, words: Sequence[str], by_name: Sequence[str] = ()) -> list[str]:
    """Return the order of scopes that hold the same words, for a text made long."""
    question = LongQuestion.parse(f"{text}\n{FILLING}")
    assert question is not None
    found = Candidates(
        [ScopeMatch(scope(one), 1.0) for one in words], by_name=[*map(scope, by_name)]
    )
    scorer = LongScorer(question, found, WORDS, MeaningWeights())
    return [one.id for one in rank.order(scorer, found, 10)]


def test_a_name_that_one_scope_has_counts_more_than_one_that_all_have() -> None:
    common = [f"{letter}.py:Shape{letter}.__repr__" for letter in "abcde"]
    rare = "z.py:voucher_of"

    found = order("`__repr__` of a shape shows no `voucher_of`", [], [*common, rare])

    assert found[0] == rare


def test_a_qualified_name_tells_which_of_many_is_meant() -> None:
    many = [f"{letter}.py:Model{letter.upper()}.fit" for letter in "abcde"]

    assert order("It fails in `ModelC.fit` with zeros", [], many)[0] == "c.py:ModelC.fit"


def test_a_text_that_speaks_of_tests_does_not_ask_for_them() -> None:
    places = ["tests/test_cart.py:test_total", "shop/cart.py:total"]

    found = order("The total of a cart is wrong\nSee this example and my tests:", places)

    assert found[0] == "shop/cart.py:total"


def test_the_last_call_of_a_trace_comes_first() -> None:
    trace = """It fails
  File "/home/ann/shop/run.py", line 3, in start
  File "/home/ann/shop/cart.py", line 42, in compute
  File "/home/ann/shop/amount.py", line 7, in compute"""
    places = ["other/amount.py:compute", "shop/cart.py:compute", "shop/amount.py:compute"]

    assert order(trace, places, places)[:2] == ["shop/amount.py:compute", "shop/cart.py:compute"]


def test_a_file_whose_path_is_mentioned_comes_first() -> None:
    places = ["a/rules.py:check", "shop/vouchers/rules.py:check", "z/rules.py:check"]

    assert order("Wrong: see shop/vouchers/rules.py", places)[0] == places[1]
    assert order(r"Wrong: see C:\work\shop\vouchers\rules.py", places)[0] == places[1]
    assert order("shop.vouchers.rules.check is wrong", places)[0] == places[1]


def test_a_package_is_mentioned_by_its_folder() -> None:
    places = ["a/__init__.py:check", "shop/vouchers/__init__.py:check"]

    assert order("shop.vouchers.check is wrong", places)[0] == places[1]


def test_words_of_the_title_count_however_long_the_text_is() -> None:
    places = ["a.py:read", "b.py:round_total"]

    for times in (1, 50):
        assert (
            order("It does not round the total\n" + "more words " * times, places)[0] == places[1]
        )


def test_several_functions_of_one_file_may_come_first() -> None:
    inside = ["shop/cart.py:total_of_lines", "shop/cart.py:total_of_cart", "shop/cart.py:total"]
    found = order("The total of a cart is wrong", [*inside, "shop/ship.py:send"])

    assert set(found[:3]) == set(inside)
