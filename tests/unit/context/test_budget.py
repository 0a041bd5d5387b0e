"""What fits into a number of characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragforge.context.selection import BETWEEN, MISSES, select_fitting, select_newest

TEXTS = st.lists(st.text(alphabet="ab", max_size=400), max_size=12)


def whole(text: str) -> str:
    return text


def test_the_best_that_fit_come_in_their_order_and_one_too_long_makes_way() -> None:
    fit = select_fitting(["a" * 10, "b" * 100, "c" * 10], whole, 40)
    assert [text for _, text in fit.shown] == ["a" * 10, "c" * 10]
    assert fit.left_out == ["b" * 100]


def test_the_best_that_is_left_may_be_cut_in_its_middle_if_there_is_room_for_some_of_it() -> None:
    long = "x" * 500 + "y" * 500
    fit = select_fitting(["a" * 10, long], whole, 300, may_cut=True)
    assert fit.cut == [long]
    assert fit.shown[1][1].startswith("xxx")
    assert fit.shown[1][1].endswith("yyy")
    assert select_fitting(["a" * 150, long], whole, 300, may_cut=True).left_out == [long]


def test_few_of_many_that_do_not_fit_are_formatted() -> None:
    tried: list[str] = []

    def format_text(text: str) -> str:
        tried.append(text)
        return text

    texts = ["a" * 10, *("b" * 100 for _ in range(200))]
    fit = select_fitting(texts, format_text, 40)
    assert len(tried) == 1 + MISSES
    assert [text for _, text in fit.shown] == ["a" * 10]
    assert fit.left_out == texts[1:]


def test_the_newest_come_without_gaps() -> None:
    fit = select_newest(["a" * 5, "b" * 500, "c" * 5, "d" * 5], whole, 100)
    assert [text for _, text in fit.shown] == ["c" * 5, "d" * 5]
    assert fit.left_out == ["a" * 5, "b" * 500]


@given(TEXTS, st.integers(0, 2_000), st.booleans())
def test_nothing_is_lost_and_nothing_is_over_the_budget(
    texts: list[str], chars: int, may_cut: bool
) -> None:
    for fit in (
        select_fitting(texts, whole, chars, may_cut=may_cut),
        select_newest(texts, whole, chars),
    ):
        assert fit.chars <= chars
        assert fit.chars == sum(len(text) + BETWEEN for _, text in fit.shown)
        told = [thing for thing, _ in fit.shown]
        assert sorted([*told, *fit.left_out]) == sorted(texts)
