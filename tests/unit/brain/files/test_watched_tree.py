"""A watched tree takes the same files as a walk."""

from __future__ import annotations

from pathlib import Path

from ragforge.brain.files.exclusions import FileLimits
from ragforge.brain.files.walk import walk
from ragforge.brain.files.watch import WatchedTree


def test_what_appears_is_taken_as_a_walk_would_take_it(tmp_path: Path) -> None:
    limits = FileLimits(max_bytes=10)
    (tmp_path / "src").mkdir()
    (tmp_path / ".gitignore").write_text("*.log\n")
    tree = WatchedTree(tmp_path, limits)
    tree.walk()
    sizes = {"a.py": 10, "b.py": 11, "c.ipynb": 100, "d.ipynb": 101, "e.log": 1, "f.png": 1}
    for name, size in sizes.items():
        (tmp_path / "src" / name).write_text("x" * size)

    changed = tree.sort_out([str(tmp_path / "src" / name) for name in sizes])

    assert changed == {"src/a.py", "src/c.ipynb"}
    assert sorted(tree.files) == [file.path for file in walk(tmp_path, limits).files]
