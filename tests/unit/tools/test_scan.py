"""Scan: how files are distributed among processes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragforge.tools.scan import ARGUMENT_BYTES, FEW_FILES, PROCESSES, split_files

PATHS = st.lists(st.text("abé漢/", min_size=1, max_size=40), max_size=30)


def bytes_of(paths: list[str]) -> int:
    return sum(len(path.encode()) for path in paths)


@given(PATHS)
def test_every_file_is_in_one_chunk_and_in_order(paths: list[str]) -> None:
    assert [path for chunk in split_files(paths) for path in chunk] == paths


def test_a_few_files_are_left_to_one_process() -> None:
    assert len(split_files(["a.py"] * FEW_FILES)) == 1
    assert len(split_files(["a.py"] * FEW_FILES * PROCESSES)) == PROCESSES


def test_what_does_not_fit_a_command_line_is_cut_further() -> None:
    long = "é漢" * 100
    paths = [f"{long}{number}" for number in range(2 * ARGUMENT_BYTES // 200)]

    cut = split_files(paths)

    assert len(cut) > PROCESSES
    assert all(bytes_of(list(chunk)) < ARGUMENT_BYTES for chunk in cut)
    assert [path for chunk in cut for path in chunk] == paths
