"""Likely files: several lists vote, and each file has the reason of its strongest vote."""

from __future__ import annotations

from ragforge.domain.passages import Passage
from ragforge.memory.search.quick import FileVote, count_edited, find_companions, vote


def done(turn: str, *files: str) -> Passage:
    return Passage(f"{turn}:done", turn, "c", "done", "asked", "", files)


def test_a_file_that_several_lists_have_wins() -> None:
    found = vote(
        [
            FileVote("its code fits", 1.0, ["a.py", "b.py"]),
            FileVote("edited", 1.0, ["c.py", "b.py"]),
        ]
    )

    assert [(one.path, one.reason) for one in found] == [
        ("b.py", "its code fits"),
        ("a.py", "its code fits"),
        ("c.py", "edited"),
    ]


def test_no_more_files_than_wanted_are_listed() -> None:
    assert len(vote([FileVote("fits", 1.0, [f"{n}.py" for n in range(30)])])) == 10
    assert vote([]) == []


def test_files_of_the_best_turns_come_first_and_those_of_large_changes_later() -> None:
    assert count_edited([done("one", "a.py"), done("two", "b.py", "c.py", "d.py")])[0] == "a.py"


def test_what_changed_together_with_a_sessions_files_is_found() -> None:
    past = [done("1", "a.py", "b.py"), done("2", "a.py", "b.py", "c.py"), done("3", "d.py")]

    assert find_companions(past, {"a.py": 1.0}) == ["b.py", "c.py"]
    assert find_companions(past, {}) == []
