"""Pieces of several searches: each place once, whole scopes before windows."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ragforge.context.excerpts import Excerpt, Location, cut_window, fuse, merge

LINES = [f"line {n}" for n in range(1, 301)]


def excerpt(
    start: int, end: int, *, scope: bool = True, score: float = 0.5, **fields: Any
) -> Excerpt:
    fields.setdefault("file", "a.py")
    fields.setdefault("confidence", 0.8)
    fields.setdefault("found_by", ("grep",))
    fields.setdefault("text", "\n".join(LINES[start - 1 : end]))
    name = f"{start}-{end}"
    return Excerpt(start_line=start, end_line=end, name=name, score=score, is_scope=scope, **fields)


def places(excerpts: list[Excerpt]) -> list[str]:
    return [one.place for one in excerpts]


def test_windows_that_overlap_become_one_with_every_line_once() -> None:
    [one] = merge([excerpt(1, 100, scope=False), excerpt(60, 160, scope=False, score=0.9)])
    assert one.place == "a.py:1-160"
    assert one.text.split("\n") == LINES[:160]
    assert one.score > 0.9  # found twice


def test_windows_of_other_files_and_places_stay_apart() -> None:
    excerpts = [excerpt(1, 10, scope=False), excerpt(50, 60, scope=False)]
    excerpts.append(excerpt(1, 10, scope=False, file="b.py"))
    assert len(merge(excerpts)) == 3


def test_a_scope_found_twice_is_there_once_and_better() -> None:
    [one] = merge([excerpt(1, 9, found_by=("grep",)), excerpt(1, 9, found_by=("fuzzy",))])
    assert one.found_by == ("grep", "fuzzy")
    assert one.score > 0.5


def test_a_window_that_scopes_already_tell_makes_way() -> None:
    assert places(merge([excerpt(1, 60), excerpt(10, 80, scope=False)])) == ["a.py:1-60"]
    assert len(merge([excerpt(1, 20), excerpt(10, 80, scope=False)])) == 2


def test_a_scope_inside_another_is_covered_by_it() -> None:
    assert places(merge([excerpt(5, 9), excerpt(1, 20)])) == ["a.py:1-20"]
    outline = excerpt(1, 20, text="class A: ...")  # does not hold its methods' text
    assert len(merge([excerpt(5, 9), outline])) == 2


def test_what_both_arms_found_comes_first() -> None:
    semantic = [excerpt(1, 9, score=1.0), excerpt(20, 29, score=0.9)]
    initial = [excerpt(20, 29, score=0.9), excerpt(40, 49, score=0.9)]
    assert places(fuse(semantic, initial)) == ["a.py:20-29", "a.py:1-9", "a.py:40-49"]


def test_a_window_is_clipped_to_the_ends_of_its_file() -> None:
    location = Location("a.py", 3, 0.9, 0.8, "grep")
    assert cut_window(location, LINES).place == "a.py:1-53"
    last = cut_window(Location("a.py", 299, 0.9, 0.8, "grep"), LINES)
    assert last.place == "a.py:249-300"
    assert last.text.split("\n") == LINES[248:]
    assert cut_window(Location("a.py", 10_000, 0.9, 0.8, "grep"), LINES).end_line == 300
    assert last.score == 0.9 * 0.9


@given(
    st.lists(
        st.builds(
            lambda start, size, scope: excerpt(start, min(300, start + size), scope=scope),
            st.integers(1, 250),
            st.integers(0, 100),
            st.booleans(),
        ),
        max_size=12,
    )
)
def test_whatever_is_merged_each_window_line_occurs_once(excerpts: list[Excerpt]) -> None:
    found = merge(excerpts)
    shown = [
        line
        for one in found
        if not one.is_scope
        for line in range(one.start_line, one.end_line + 1)
    ]
    assert len(shown) == len(set(shown))
    for one in found:
        assert one.text.split("\n") == LINES[one.start_line - 1 : one.end_line]
    assert found == merge(list(reversed(excerpts)))
