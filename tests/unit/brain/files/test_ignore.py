"""Ignore files: git is asked the same question, and must give the same answer."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragforge.brain.files.exclusions import FileLimits
from ragforge.brain.files.ignore import (
    RAGFORGEIGNORE,
    compile_patterns,
    read_rules_above,
    read_rules_in,
)
from ragforge.brain.files.walk import walk

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

TREE = """
a b ab foo .hidden build/a build/b build/keep/c src/a src/b src/foo src/build/x src/deep/er/a
a.txt src/b.txt doc/a.txt doc/in/b.txt x/y/z x/y/a/z x/z foo.d/bar foobar/q/bar A é/é éé
"""
ODD_NAMES = ["a b/c", "tail ", "#x", "!x", "[a]", "a*b", "q?", "back\\slash", "-", "]", "^", "a\tb"]

CASES: dict[str, Mapping[str, str]] = {
    "names": {".gitignore": "foo\n*.txt\n"},
    "a directory, not a file": {".gitignore": "build/\na/\n"},
    "anchored": {".gitignore": "/a\nsrc/b\n/build\n"},
    "brought back": {".gitignore": "*.txt\n!b.txt\n"},
    "not brought back below an ignored directory": {".gitignore": "build\n!build/keep\n"},
    "brought back step by step": {".gitignore": "build/*\n!build/keep\n"},
    "a directory brought back, not what is in it": {".gitignore": "*\n!src\n"},
    "everything but": {".gitignore": "*\n!*/\n!*.txt\n"},
    "a nested file decides": {".gitignore": "a\n", "src/.gitignore": "!a\nfoo\n"},
    "nested and anchored": {"src/.gitignore": "/a\ndeep/er\n"},
    "a nested file in an ignored directory": {".gitignore": "src\n", "src/.gitignore": "!*\n"},
    "two stars": {".gitignore": "**/a\nx/**/z\ndoc/**\n"},
    "two stars for directories": {".gitignore": "src/**/\n"},
    "two stars in a name": {".gitignore": "f**o\nx/y**/z\n"},
    "two stars after the plain beginning": {".gitignore": "/foo**/bar\n"},
    "two stars and an escaped slash": {".gitignore": "x/**\\/z\n"},
    "trailing spaces": {".gitignore": "foo   \ntail\\ \n a\n"},
    "escapes": {".gitignore": "\\#x\n\\!x\na\\*b\n\\[a\\]\nq\\?\nback\\\\slash\n"},
    "comments and empty lines": {".gitignore": "#foo\n\n\n/\n!\n"},
    "sets": {".gitignore": "[a-c]\n[!x]oo\n[]^]\n"},
    "sets with odd borders": {".gitignore": "[b-a]\n[--/]\n[a\\]]\n[[:]\n"},
    "named sets": {".gitignore": "[[:alpha:]]\n[[:upper:][:digit:]]\n[[:nonsense:]]oo\n"},
    "unclosed sets": {".gitignore": "[a\nfoo[\nb\\\n"},
    "a question mark is one byte": {".gitignore": "?\n??\n"},
    "windows line ends": {".gitignore": "foo\r\nbuild/\r\n"},
    "a byte-order mark": {".gitignore": "\ufefffoo\n"},
    "no line end": {".gitignore": "foo"},
    "tabs stay": {".gitignore": "a\tb\nfoo\t\n"},
    "excluded for this clone": {".git/info/exclude": "foo\nbuild\n", ".gitignore": "!foo\n"},
    "capitals": {".gitignore": "FOO\na\n"},
    "beyond ASCII": {".gitignore": "é\n"},
}


def make(root: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.is_dir():
            place.write_text(text, newline="")


def repository(root: Path) -> None:
    subprocess.run(["git", "init", "-q", "--template=", root], env=clean(), check=True)


def clean() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return kept | {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "XDG_CONFIG_HOME": os.devnull,
    }


def seen_by_git(root: Path) -> set[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=root, env=clean(), check=True, capture_output=True)
    return {os.fsdecode(path) for path in listed.stdout.split(b"\0") if path}


def seen_by_us(root: Path) -> set[str]:
    walked = walk(root, FileLimits())
    others = {s.path for s in walked.skipped if s.reason not in ("ignored", "version control")}
    return {found.path for found in walked.files} | others


@needs_git
@pytest.mark.parametrize("name", CASES)
def test_git_agrees_on(name: str, tmp_path: Path) -> None:
    repository(tmp_path)
    make(tmp_path, dict.fromkeys([*TREE.split(), *ODD_NAMES], "") | CASES[name])

    assert seen_by_us(tmp_path) == seen_by_git(tmp_path)


PARTS = "a b foo * ** ? / [ab] [!a] [a-c] \\ \\* .o **/ /** ! [ # é - ] [[:alpha:]] build \\/"
SEGMENTS = "a b ab foo * ** a* *b ? [a-c] foo** build"
parts = st.sampled_from([*PARTS.split(), " ", "\\ ", "\t"])
lines = st.lists(parts, min_size=1, max_size=5).map("".join)
segments = st.sampled_from(SEGMENTS.split())
rooted = st.tuples(
    st.sampled_from(["", "/", "!"]),
    st.lists(segments, min_size=1, max_size=4).map("/".join),
    st.sampled_from(["", "/"]),
).map("".join)
ignore_files = st.lists(lines | rooted, min_size=1, max_size=5).map("\n".join)
paths = st.lists(st.sampled_from(["a", "b", "foo", "build", "a.o", "é", "a b", "[a"]), min_size=1)
trees = st.lists(paths.map(lambda names: "/".join(names[:4])), min_size=1, max_size=12)


@needs_git
@given(trees, ignore_files, ignore_files, st.sampled_from(["a/", "foo/", "build/"]))
def test_git_agrees_on_anything(tree: list[str], outer: str, inner: str, place: str) -> None:
    files = dict.fromkeys(sorted(tree, key=len, reverse=True), "")
    with TemporaryDirectory() as directory:
        root = Path(directory)
        repository(root)
        make(root, files)
        make(root, {".gitignore": outer})
        if (root / place).is_dir():
            make(root, {f"{place}.gitignore": inner})

        assert seen_by_us(root) == seen_by_git(root)


def test_ragforgeignore_overrides_gitignore(tmp_path: Path) -> None:
    make(tmp_path, dict.fromkeys(["a.txt", "b.txt", "src/a.txt", "src/c", "out/d"], ""))
    make(tmp_path, {".gitignore": "*.txt\nout/\n", "src/.gitignore": "!c\n"})
    make(tmp_path, {RAGFORGEIGNORE: "!a.txt\nc\n!out/\n", "src/.ragforgeignore": "a.txt\n"})

    found = {path for path in seen_by_us(tmp_path) if "ignore" not in path}

    assert found == {"a.txt", "out/d"}


def test_a_part_of_a_repository_obeys_the_files_above_it(tmp_path: Path) -> None:
    make(tmp_path, {".git/info/exclude": "secret\n", ".gitignore": "/pkg/core/a\nb\n"})
    make(tmp_path, {"pkg/.gitignore": "core/c\n", "pkg/.ragforgeignore": "/core/d\n"})
    make(tmp_path, dict.fromkeys([f"pkg/core/{name}" for name in ["a", "b", "c", "d", "e"]], ""))
    make(tmp_path, {"pkg/core/secret": "", "pkg/core/in/core/c": ""})

    assert seen_by_us(tmp_path / "pkg/core") == {"e", "in/core/c"}


def test_a_root_that_is_itself_ignored_was_meant(tmp_path: Path) -> None:
    make(tmp_path, {".git/HEAD": "", ".gitignore": "*\n", "project/a": "", "project/in/b": ""})

    assert seen_by_us(tmp_path / "project") == {"a", "in/b"}


@needs_git
def test_a_second_work_tree_obeys_what_the_clone_excludes(tmp_path: Path) -> None:
    main, second = tmp_path / "main", tmp_path / "second"
    repository(main)
    make(main, {".git/info/exclude": "secret\n"})
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (
        [*author, "commit", "-q", "--allow-empty", "-m", "first"],
        ["worktree", "add", "-q", second],
    ):
        subprocess.run(["git", *command], cwd=main, env=clean(), check=True)
    make(second, {"secret": "", "open": ""})

    assert seen_by_us(second) == seen_by_git(second) == {"open"}


def test_an_ignore_file_that_is_not_a_file_is_left_alone(tmp_path: Path) -> None:
    make(tmp_path, {"a": "", "in/b": "", "elsewhere": "a\nb\n"})
    os.mkfifo(tmp_path / ".gitignore")
    (tmp_path / "in/.gitignore").symlink_to(tmp_path / "elsewhere")
    (tmp_path / RAGFORGEIGNORE).mkdir()

    assert {"a", "in/b"} <= seen_by_us(tmp_path)


@pytest.mark.parametrize("pattern", ["*a" * 60 + "b", "/" + "**/a/" * 60 + "b", "a*" * 60 + "/b"])
def test_no_pattern_takes_forever(pattern: str) -> None:
    for_files, _ = compile_patterns(pattern)

    assert for_files.decide("a/" * 1_000 + "a", "a") is None
    assert for_files.decide("a" * 250, "a" * 250) is None


def test_the_rules_of_a_directory_are_found_without_a_walk(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "*.log\n", "in/deep/.gitignore": "!keep.log\n"})

    rules = read_rules_in(tmp_path, "in/deep")

    assert rules.ignores("in/deep/a.log", "a.log", is_directory=False)
    assert not rules.ignores("in/deep/keep.log", "keep.log", is_directory=False)
    assert not read_rules_above(tmp_path).ignores("a.log", "a.log", is_directory=False)
