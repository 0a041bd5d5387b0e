"""Mentions: what counts as one in a question."""

from __future__ import annotations

import pytest

from ragforge.tools.mentions import find_mentions


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What is in @src/login.py?", ["src/login.py"]),
        ("@src/a.py:10-40, @src/a.py:7.", ["src/a.py:10-40", "src/a.py:7"]),
        ('See @"my notes/" and @"my notes/a.txt":3-4', ["my notes/", "my notes/a.txt:3-4"]),
        ("See @my\\ notes/a.txt", ["my notes/a.txt"]),
        ("Read @https://example.org/a?b=c!", ["https://example.org/a?b=c"]),
        ("ann@example.org, @shot.png and @", []),
        ("Why?\n\n```\n@secret.txt:1\n```\nAnd @b.py", ["b.py"]),
        ("Why?\n\n````\n```\n@secret.txt:1\n````", []),
        ("Why?\n\n```\n@secret.txt:1", []),
    ],
)
def test_names_follow_an_at_outside_of_code_blocks(question: str, names: list[str]) -> None:
    assert list(find_mentions(question)) == names
