"""Sessions: one directory, one name; a title from the first question."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge.folders import find_project
from ragforge.memory.sessions import normalise, shorten_to_title


def test_a_directory_has_one_name_however_it_is_reached(tmp_path: Path) -> None:
    real = tmp_path / "real"
    (real / "src").mkdir(parents=True)
    (tmp_path / "link").symlink_to(real)

    for path in (tmp_path / "link", real / "src" / "..", Path(f"{real}/")):
        assert normalise(path) == real.resolve()


def test_a_project_is_the_nearest_git_tree_or_the_directory_itself(tmp_path: Path) -> None:
    (tmp_path / "a" / "b" / ".git").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c").mkdir()

    assert find_project(tmp_path / "a" / "b" / "c") == tmp_path / "a" / "b"
    assert find_project(tmp_path / "a" / "b") == tmp_path / "a" / "b"


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("one two", "one two"),
        (" one\n two ", "one two"),
        ("one two three four", "one two…"),
        ("x" * 30, "x" * 11 + "…"),
    ],
)
def test_a_title_is_one_short_line(text: str, short: str) -> None:
    assert shorten_to_title(text, 12) == short
