"""Globs: which paths a pattern selects."""

from __future__ import annotations

import time

import pytest

from ragforge.errors import BadPattern, OutsideProject
from ragforge.tools.globs import compile_glob


def fits(pattern: str, path: str) -> bool:
    glob = compile_glob(pattern)
    return glob is None or glob.fullmatch(path) is not None


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("**/*.ts", "a.ts"),
        ("**/*.ts", "src/deep/a.ts"),
        ("*.ts", "src/deep/a.ts"),
        ("src/**/*.js", "src/a.js"),
        ("src/**/*.js", "src/x/y/a.js"),
        ("src/", "src/x/y/a.js"),
        ("./src/*.js", "src/a.js"),
        ("*.{ts,tsx}", "src/a.tsx"),
        ("{src,lib}/**/*.{c,h}", "lib/x/a.h"),
        ("{a,b{c,d}}.py", "bd.py"),
        ("caf?.py", "café.py"),
        ("[一-龥].md", "中.md"),
        ("a[]-]b", "a]b"),
        ("file\\{1\\}.py", "file{1}.py"),
        ("{x}.py", "{x}.py"),
        ("**", ".github/workflows/ci.yml"),
        ("a\nb.py", "x/a\nb.py"),
    ],
)
def test_a_glob_selects(pattern: str, path: str) -> None:
    assert fits(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("src/*.js", "src/x/a.js"),
        ("*.ts", "a.tsx"),
        ("src/**", "lib/a"),
        ("*.{ts,tsx}", "a.js"),
        ("[!a].py", "a.py"),
    ],
)
def test_a_glob_does_not_select(pattern: str, path: str) -> None:
    assert not fits(pattern, path)


@pytest.mark.parametrize("pattern", ["[a", "src/[", "x\\", "a[[:nope:]]"])
def test_a_bad_glob_is_named_in_the_error(pattern: str) -> None:
    with pytest.raises(BadPattern) as caught:
        compile_glob(pattern)

    assert repr(pattern) in str(caught.value)
    assert caught.value.pattern == pattern


def test_braces_that_mean_too_much_are_refused() -> None:
    with pytest.raises(BadPattern, match="more than 100 globs"):
        compile_glob("{a,b}" * 20)


@pytest.mark.parametrize("pattern", ["/etc/*", "../*.py", "src/../../x"])
def test_a_glob_that_leads_out_is_refused(pattern: str) -> None:
    with pytest.raises(OutsideProject):
        compile_glob(pattern)


def test_no_glob_is_slow() -> None:
    start = time.process_time()

    assert not fits("*a" * 30 + "b", "a" * 5_000)
    assert not fits("**/" * 30 + "b", "a/" * 2_000)

    assert time.process_time() - start < 5  # not slow, but never finishing
