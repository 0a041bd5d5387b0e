"""Diffs: the lines an edit wrote, and where the others went."""

from __future__ import annotations

import difflib

from hypothesis import given, settings
from hypothesis import strategies as st

from ragforge.memory.code.traces import follow_line, list_changed_lines, read_diff

LINES = st.lists(st.sampled_from("abcdef"), max_size=12).map(
    lambda names: [f"{name}\n" for name in names]
)


def diff(old: list[str], new: list[str]) -> str:
    return "".join(difflib.unified_diff(old, new, "a/x", "b/x"))


def test_the_lines_that_were_written_are_found() -> None:
    old = ["one\n", "two\n", "three\n"]
    assert list_changed_lines(read_diff(diff(old, ["one\n", "2\n", "2b\n", "three\n"]))) == [
        1,
        2,
        3,
    ]
    assert list_changed_lines(read_diff(diff([], old))) == [1, 2, 3]


def test_removed_lines_count_for_the_line_before_them() -> None:
    old = ["def f():\n", "    a()\n", "    b()\n"]
    assert list_changed_lines(read_diff(diff(old, old[:2]))) == [2]
    assert list_changed_lines(read_diff(diff(old, []))) == [1]


@settings(deadline=None)
@given(LINES, LINES)
def test_a_line_that_stays_is_followed_to_its_new_place(old: list[str], new: list[str]) -> None:
    hunks = read_diff(diff(old, new))
    written = set(list_changed_lines(hunks))
    kept = [
        (at + offset + 1, to + offset + 1)
        for at, to, size in difflib.SequenceMatcher(None, old, new).get_matching_blocks()
        for offset in range(size)
    ]
    for before, after in kept:
        assert follow_line(before, hunks) == after
    assert set(range(1, len(new) + 1)) - {after for _, after in kept} <= written


def test_text_that_is_not_a_diff_changes_nothing() -> None:
    for text in ("", "hello", "--- a\n+++ b\n", "@@ nonsense @@\n+x"):
        assert read_diff(text) == []
        assert follow_line(7, read_diff(text)) == 7


def test_a_diff_that_was_cut_is_read_as_far_as_it_goes() -> None:
    [hunk] = read_diff("--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n… (1200 more characters)")
    assert list_changed_lines([hunk]) == [1, 2]
