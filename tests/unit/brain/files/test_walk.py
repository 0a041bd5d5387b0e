"""Walk: what is found, and why the rest is not."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from ragforge.brain.files import beneath
from ragforge.brain.files.exclusions import FileLimits
from ragforge.brain.files.walk import FoundFile, SkippedFile, walk


def make(root: Path, *paths: str, text: str = "x") -> None:
    for path in paths:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def found(root: Path, limits: FileLimits | None = None) -> list[str]:
    return [file.path for file in walk(root, limits or FileLimits()).files]


def skipped(root: Path, limits: FileLimits | None = None) -> dict[str, str]:
    return {item.path: item.reason for item in walk(root, limits or FileLimits()).skipped}


def test_files_come_sorted_with_their_size_and_time(tmp_path: Path) -> None:
    make(tmp_path, "b.py", "a/z.py", "a-b.py", text="four")
    os.utime(tmp_path / "b.py", ns=(1, 123_456_789))

    files = walk(tmp_path, FileLimits()).files

    assert [file.path for file in files] == ["a-b.py", "a/z.py", "b.py"]
    assert files[2] == FoundFile("b.py", 4, 123_456_789)


def test_the_directories_that_were_entered_are_reported(tmp_path: Path) -> None:
    make(tmp_path, "a/b/c.py", "node_modules/d/e.js")

    assert walk(tmp_path, FileLimits()).directories == ("", "a", "a/b")


def test_an_ignored_directory_is_one_entry(tmp_path: Path) -> None:
    make(tmp_path, "out/a.py", "out/b/c.py", "kept.py", "note.log")
    make(tmp_path, ".gitignore", text="out/\n*.log\n")

    assert found(tmp_path) == [".gitignore", "kept.py"]
    assert skipped(tmp_path) == {"note.log": "ignored", "out/": "ignored"}


@pytest.mark.parametrize("name", [".git", ".hg", ".svn"])
def test_version_control_is_not_entered(tmp_path: Path, name: str) -> None:
    make(tmp_path, f"{name}/config", f"sub/{name}/config")

    assert found(tmp_path) == []
    assert skipped(tmp_path) == {f"{name}/": "version control", f"sub/{name}/": "version control"}


def test_the_git_file_of_a_submodule_is_not_a_source(tmp_path: Path) -> None:
    make(tmp_path, "sub/.git", "sub/a.py")

    assert found(tmp_path) == ["sub/a.py"]


@pytest.mark.parametrize(
    "path",
    [
        "web/node_modules/left-pad/index.js",
        "lib/site-packages/a.py",
        "third_party/zlib.c",
        ".venv/lib/a.py",
        "a/__pycache__/a.txt",
    ],
)
def test_what_packages_bring_along_is_not_entered(tmp_path: Path, path: str) -> None:
    make(tmp_path, path)

    assert found(tmp_path) == []
    assert set(skipped(tmp_path).values()) == {"vendored"}


@pytest.mark.parametrize(
    ("mark", "directory"),
    [
        ("vendor/modules.txt", "vendor/"),
        ("vendor/autoload.php", "vendor/"),
        ("env/pyvenv.cfg", "env/"),
        ("target/CACHEDIR.TAG", "target/"),
    ],
)
def test_a_foreign_tree_is_known_by_its_mark(tmp_path: Path, mark: str, directory: str) -> None:
    make(tmp_path, mark, f"{directory}a.py", f"{directory}deep/b.py")

    assert found(tmp_path) == []
    assert skipped(tmp_path) == {directory: "vendored"}


def test_a_name_that_only_sounds_foreign_is_entered(tmp_path: Path) -> None:
    paths = ["build/steps.py", "dist/plan.py", "env/a.py", "vendor/own.rb", "venv/__init__.py"]
    make(tmp_path, *paths)

    assert found(tmp_path) == paths


def test_a_foreign_root_was_meant(tmp_path: Path) -> None:
    make(tmp_path, "node_modules/pkg/CACHEDIR.TAG", "node_modules/pkg/index.js")

    assert "index.js" in found(tmp_path / "node_modules/pkg")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("photo.PNG", "binary"),
        ("a.pyc", "binary"),
        ("locale/de/LC_MESSAGES/django.mo", "binary"),
        ("jquery.min.js", "minified"),
        ("locale/de/LC_MESSAGES/django.po", "translation"),
        ("i18n/messages.fr.XLF", "translation"),
        ("package-lock.json", "generated"),
        ("Cargo.lock", "generated"),
        ("app.js.map", "generated"),
        ("api_pb2.py", "generated"),
        ("api.pb.go", "generated"),
        ("view.test.js.snap", "generated"),
    ],
)
def test_a_name_can_be_reason_enough(tmp_path: Path, name: str, reason: str) -> None:
    make(tmp_path, name)

    assert skipped(tmp_path) == {name: reason}


def test_a_name_without_an_extension_is_not_an_extension(tmp_path: Path) -> None:
    names = ["Makefile", "class", "db", "engine.mo", "o", "page.pt", "zip"]
    make(tmp_path, *names)

    assert found(tmp_path) == names


def test_a_file_is_too_large_beyond_the_limit(tmp_path: Path) -> None:
    make(tmp_path, "just.py", text="x" * 10)
    make(tmp_path, "over.py", text="x" * 11)

    limits = FileLimits(max_bytes=10)

    assert found(tmp_path, limits) == ["just.py"]
    assert skipped(tmp_path, limits) == {"over.py": "too large"}


def test_a_notebook_may_be_larger_for_what_came_out_of_it_is_not_kept(tmp_path: Path) -> None:
    make(tmp_path, "just.ipynb", text="x" * 100)
    make(tmp_path, "over.ipynb", text="x" * 101)

    assert found(tmp_path, FileLimits(max_bytes=10)) == ["just.ipynb"]


def test_too_many_files_end_the_walk_where_it_is_deepest(tmp_path: Path) -> None:
    make(tmp_path, "a/b/c/deep.py", "a/one.py", "z.py", "zz/two.py")

    limits = FileLimits(max_files=3)

    assert found(tmp_path, limits) == ["a/one.py", "z.py", "zz/two.py"]
    assert skipped(tmp_path, limits) == {"a/b/c/deep.py": "too many"}


def test_exactly_as_many_files_as_allowed_are_not_too_many(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "b.py", "c.png")

    assert skipped(tmp_path, FileLimits(max_files=2)) == {"c.png": "binary"}


def test_links_are_never_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    make(root, "in/a.py")
    make(outside, "b.py")
    for name, target in {
        "again.py": root / "in/a.py",
        "loop": root,
        "in/up": root / "in",
        "out.py": outside / "b.py",
        "outer": outside,
        "broken": root / "nothing",
        "self": root / "self",
    }.items():
        (root / name).symlink_to(target)

    assert found(root) == ["in/a.py"]
    assert skipped(root) == {
        "again.py": "link",
        "broken": "link",
        "in/up": "link",
        "loop": "link",
        "out.py": "outside",
        "outer": "outside",
        "self": "link",
    }


def test_a_root_behind_a_link_is_walked(tmp_path: Path) -> None:
    make(tmp_path, "real/a.py")
    (tmp_path / "alias").symlink_to(tmp_path / "real")

    assert found(tmp_path / "alias") == ["a.py"]


def test_pipes_and_sockets_are_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")

    assert skipped(tmp_path) == {"pipe.py": "special", "socket": "special"}


def test_a_name_that_is_not_utf8_is_skipped_and_can_be_shown(tmp_path: Path) -> None:
    place = os.path.join(os.fsencode(tmp_path), b"caf\xe9.py")
    try:
        os.close(os.open(place, os.O_CREAT))
    except OSError:
        pytest.skip("this file system accepts only UTF-8")

    assert walk(tmp_path, FileLimits()).skipped == (SkippedFile("caf\\udce9.py", "name"),)


def test_names_in_any_script_are_found(tmp_path: Path) -> None:
    make(tmp_path, "日本/ファイル.py", "été.py")

    assert found(tmp_path) == ["été.py", "日本/ファイル.py"]


def refuse(listed: str, error: OSError) -> Callable[[str, str], AbstractContextManager[int]]:
    open_directory = beneath.open_directory

    def opening(root: str, path: str) -> AbstractContextManager[int]:
        if path == listed:
            raise error
        return open_directory(root, path)

    return opening


def test_a_directory_that_cannot_be_listed_is_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "a.py", "shut/b.py")
    monkeypatch.setattr(beneath, "open_directory", refuse("shut", PermissionError()))

    assert found(tmp_path) == ["a.py"]
    assert skipped(tmp_path) == {"shut/": "unreadable"}


def test_a_directory_that_goes_meanwhile_is_not_mentioned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "a.py", "gone/b.py")
    monkeypatch.setattr(beneath, "open_directory", refuse("gone", FileNotFoundError()))

    assert found(tmp_path) == ["a.py"]
    assert skipped(tmp_path) == {}


def test_a_root_that_is_gone_is_not_an_empty_project(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        walk(tmp_path / "nothing", FileLimits())
