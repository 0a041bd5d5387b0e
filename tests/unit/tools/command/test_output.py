"""Output: places in what commands print."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragforge.tools.command.output import OutputLocation, find_locations

FILES = {"src/app.py", "a:1:b.txt", "dir with space/x.md", "été.py", "README.md", "src/win.cs"}


def found(output: str, cwd: str = "", root: str = "") -> list[OutputLocation]:
    return find_locations(output, FILES.__contains__, cwd, root)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("src/app.py:12:def main():", [OutputLocation("src/app.py", 12, "def main():")]),
        ("./src/app.py:3:x", [OutputLocation("src/app.py", 3, "x")]),
        ("src/app.py:3:", [OutputLocation("src/app.py", 3, "")]),
        ("src/app.py:3:a:4:b", [OutputLocation("src/app.py", 3, "a:4:b")]),
        ("a:1:b.txt:7:text", [OutputLocation("a:1:b.txt", 7, "text")]),
        ("dir with space/x.md:1:# X", [OutputLocation("dir with space/x.md", 1, "# X")]),
        ("HEAD:src/app.py:5:y", [OutputLocation("src/app.py", 5, "y")]),
        ('"\\303\\251t\\303\\251.py":2:z', [OutputLocation("été.py", 2, "z")]),
        ("\x1b[35msrc/app.py\x1b[m\x1b[36m:\x1b[m9:q", [OutputLocation("src/app.py", 9, "q")]),
        ("src\\win.cs:4:class", [OutputLocation("src/win.cs", 4, "class")]),
        ("src/app.py:4:x\r\n", [OutputLocation("src/app.py", 4, "x")]),
        ("missing.py:4:x", []),
        ("Binary file src/app.py matches", []),
        ("grep: src/app.py: binary file matches", []),
        ("12:34: a clock", []),
        ("", []),
    ],
)
def test_a_line_of_a_search_is_a_place(output: str, expected: list[OutputLocation]) -> None:
    assert found(output) == expected


def test_context_and_separators_are_not_places() -> None:
    output = "src/app.py-1-import os: 3: x\nsrc/app.py:2:hit\nsrc/app.py-3-after\n--\nREADME.md:1:r"
    assert found(output) == [
        OutputLocation("src/app.py", 2, "hit"),
        OutputLocation("README.md", 1, "r"),
    ]


def test_lists_of_files_are_places_without_lines() -> None:
    assert found("src/app.py\n./README.md\nno such\n") == [
        OutputLocation("src/app.py"),
        OutputLocation("README.md"),
    ]


def test_counts_before_names_are_left_out() -> None:
    assert found("  12 src/app.py\n4.0K\tREADME.md\n  16 total") == [
        OutputLocation("src/app.py"),
        OutputLocation("README.md"),
    ]


def test_matches_below_a_heading_belong_to_its_file() -> None:
    output = "src/app.py\n3:def a\n9:def b\n\nREADME.md\n1:# x"
    assert [place for place in found(output) if place.line] == [
        OutputLocation("src/app.py", 3, "def a"),
        OutputLocation("src/app.py", 9, "def b"),
        OutputLocation("README.md", 1, "# x"),
    ]


def test_names_that_end_in_nul_are_read() -> None:
    assert found("src/app.py\0README.md\0") == [
        OutputLocation("src/app.py"),
        OutputLocation("README.md"),
    ]
    assert found("src/app.py\x003:x\nREADME.md\x001:y\n") == [
        OutputLocation("src/app.py", 3, "x"),
        OutputLocation("README.md", 1, "y"),
    ]
    assert found("src/app.py\x003\0x\nREADME.md\x001\0y\n") == [
        OutputLocation("src/app.py", 3, "x"),
        OutputLocation("README.md", 1, "y"),
    ]


def test_paths_are_relative_to_the_project() -> None:
    assert found("app.py:1:x", cwd="src") == [OutputLocation("src/app.py", 1, "x")]
    assert found("../README.md", cwd="src") == [OutputLocation("README.md")]
    assert found("/p/src/app.py:1:x", root="/p") == [OutputLocation("src/app.py", 1, "x")]
    assert found("../../README.md:1:x", cwd="src") == []


def test_windows_drives_are_not_line_numbers() -> None:
    everything = find_locations("C:\\p\\x.cs:12:y", lambda path: path == "x.cs", root="C:\\p")
    assert everything == [OutputLocation("x.cs", 12, "y")]


def test_a_place_is_returned_once() -> None:
    assert len(found("src/app.py:1:x\nsrc/app.py:1:x")) == 1


@given(st.text(alphabet="src/ap.y:0123-\n\0 \x1b[m\"\\'é", max_size=200))
def test_no_output_is_too_strange(output: str) -> None:
    for place in find_locations(output, lambda path: True):
        assert place.path
        assert not place.path.startswith(("/", "../"))
