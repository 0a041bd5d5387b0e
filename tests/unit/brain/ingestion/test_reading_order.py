"""In which order the files of a project are read."""

from __future__ import annotations

from pathlib import Path

from ragforge.brain.files.walk import FoundFile, WantedFiles
from ragforge.brain.ingestion.ingestion_run import order_files


def order(*paths: str, wanted: tuple[str, ...] = (), recent: tuple[str, ...] = ()) -> list[str]:
    found = order_files([FoundFile(path, 1, 1) for path in paths], wanted, recent)
    return [file.path for file in found]


def test_source_is_read_before_documents_tests_and_what_others_wrote() -> None:
    paths = ("README.md", "Makefile", "static/jquery.js", "tests/test_a.py", "src/a.py")
    assert order(*paths) == [
        "src/a.py",
        "Makefile",
        "README.md",
        "tests/test_a.py",
        "static/jquery.js",
    ]


def test_recent_changes_come_first_within_each_kind() -> None:
    recent = ("tests/test_b.py", "src/b.py")
    assert order("src/a.py", "src/b.py", "tests/test_a.py", "tests/test_b.py", recent=recent) == [
        "src/b.py",
        "src/a.py",
        "tests/test_b.py",
        "tests/test_a.py",
    ]


def test_what_a_question_wants_comes_before_all() -> None:
    wanted = ("tests/test_a.py", "gone.py")
    assert order("src/a.py", "tests/test_a.py", wanted=wanted)[0] == "tests/test_a.py"


def test_wanted_files_are_returned_once(tmp_path: Path) -> None:
    wanted = WantedFiles(tmp_path / "state" / "project")
    assert wanted.take() == []

    wanted.add(["a.py", "b.py"])
    wanted.add(["a.py", "c\nd.py"])

    assert wanted.take() == ["a.py", "b.py"]
    assert wanted.take() == []
