"""Changes: what may have changed, and which files it concerns."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ragforge.brain.files.compare import PARSED, RELATED, SKIPPED, compare
from ragforge.brain.files.walk import FoundFile
from ragforge.brain.graph.changes import (
    find_changed_names,
    find_dependents,
    find_imported,
    find_moved_imports,
)
from ragforge.brain.graph.name_index import Modules
from ragforge.brain.parse.read_source import ReadFile, read_file
from ragforge.domain.code import File

TIME = datetime(2026, 1, 5, 12, tzinfo=UTC)
TIME_NS = int(TIME.timestamp()) * 1_000_000_000
GO_MOD = {"go.mod": "module example.com/shop\n"}


def known(path: str, language: str = "python", *imports: str, **fields: object) -> File:
    given = File(path, "h", language=language, size=4, mtime=TIME, state=RELATED, imports=imports)
    return replace(given, **fields)


def by_path(*files: File) -> dict[str, File]:
    return {file.path: file for file in files}


def test_a_file_of_the_same_time_and_size_is_not_a_suspect() -> None:
    found = [FoundFile("a.py", 4, TIME_NS + 999)]  # less than a millisecond later

    assert compare(found, by_path(known("a.py"))).suspects == ()


@pytest.mark.parametrize(
    ("found", "before"),
    [
        (FoundFile("a.py", 5, TIME_NS), known("a.py")),
        (FoundFile("a.py", 4, TIME_NS + 1_000_000), known("a.py")),
        (FoundFile("a.py", 4, TIME_NS - 1_000_000), known("a.py")),
        (FoundFile("a.py", 4, TIME_NS), known("a.py", mtime=None)),
        (FoundFile("a.py", 4, TIME_NS), known("b.py")),
    ],
    ids=["another size", "later", "earlier", "a time that was too young", "new"],
)
def test_any_other_file_is_a_suspect(found: FoundFile, before: File) -> None:
    assert compare([found], by_path(before)).suspects == (found,)


def test_what_the_walk_did_not_find_is_gone() -> None:
    difference = compare([FoundFile("b.py", 4, TIME_NS)], by_path(known("a.py"), known("b.py")))

    assert difference.gone == ("a.py",)


def read(root: Path, path: str, text: str | bytes) -> ReadFile:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_file(str(root), "project", path, 0)


def others_see_a_change(
    root: Path, path: str, before: str | bytes, after: str | bytes, state: str = RELATED
) -> bool:
    old, new = read(root, path, before), read(root, path, after)
    assert old.parsed is not None
    stored = replace(old.parsed.file, state=SKIPPED if old.skipped else state)
    return find_changed_names([new], {path: stored}, old.parsed.scopes).keys() == {path}


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.py", "def f():\n  one()\n", "def f():\n  two()\n  three()\n"),
        ("a.py", "def f(x): ...\n", "def f(x, y=1): ...\n"),
        ("a.py", "def f(): ...\ndef g(): ...\n", "def g(): ...\n\n\ndef f(): ...\n"),
        ("a.py", "class A:\n  x = 1\n", "class A:\n  x = 2\n"),
        ("a.go", "package a\nfunc f() { g() }\n", "package a\nfunc f() { h() }\n"),
        ("a.rb", "class A\n def f\n 1\n end\nend\n", "class A\n def f\n 2\n end\nend\n"),
    ],
    ids=["a body", "parameters", "the order", "a value", "a body in Go", "a body in Ruby"],
)
def test_what_others_cannot_see_is_not_a_change_of_names(
    tmp_path: Path, path: str, before: str, after: str
) -> None:
    assert not others_see_a_change(tmp_path, path, before, after)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.py", "def f(): ...\n", "def f(): ...\ndef g(): ...\n"),
        ("a.py", "def f(): ...\n", "class f: ...\n"),
        ("a.py", "class A(B):\n  x = 1\n", "class A(C):\n  x = 1\n"),
        ("a.py", "from b import x\n", "from b import x as y\n"),
        ("a.py", "import b\n", "from b import *\n"),
        ("a.py", "import b.c\n", "import b.c as d\n"),
        ("a.py", "def f():\n  pass\nimport b\n", "def f():\n  import b\n"),
        ("a.rb", "class A\n include B\nend\n", "class A\n include C\nend\n"),
        ("a.rb", "class A\n def f\n end\nend\n", "class A\n def self.f\n end\nend\n"),
        ("a.go", "package a\ntype A struct {\n\tB\n}\n", "package a\ntype A struct {\n\tC\n}\n"),
        ("a.ts", "export function f() {}\n", "export default function f() {}\n"),
        (
            "a.ts",
            "function f() {\n1;\n}\nfunction f() {\n1;\n2;\n}\n",
            "function f() {\n1;\n2;\n3;\n}\nfunction f() {\n1;\n2;\n}\n",
        ),
        ("package.json", '{"name": "one"}', '{"name": "two"}'),
        ("a.py", "x = 1\n", b"\0\1\2"),
        ("a.py", b"\0\1\2", "x = 1\n"),
    ],
    ids=[
        *("a function", "a type", "a base", "a local name", "a wildcard", "an alias"),
        *("an inner import", "a mixin", "a static method", "an embedded type", "a default"),
        *("the longest of one name", "a manifest", "binary now", "binary before"),
    ],
)
def test_what_others_can_see_is_a_change_of_names(
    tmp_path: Path, path: str, before: str | bytes, after: str | bytes
) -> None:
    assert others_see_a_change(tmp_path, path, before, after)


def test_a_file_that_was_left_half_done_counts_as_changed(tmp_path: Path) -> None:
    same = ("def f():\n  one()\n", "def f():\n  two()\n")

    assert not others_see_a_change(tmp_path, "a.py", *same)
    assert others_see_a_change(tmp_path, "a.py", *same, state=PARSED)


def test_a_new_file_counts_as_changed(tmp_path: Path) -> None:
    assert find_changed_names([read(tmp_path, "a.py", "")], {}, []).keys() == {"a.py"}


def test_an_import_is_understood_however_it_was_written(tmp_path: Path) -> None:
    text = (
        "from . import b as c, d\nfrom .e import *\nimport pkg.f as g\n"
        "def x():\n  from .h import i\n"
    )
    file = read(tmp_path, "pkg/a.py", text).parsed
    assert file is not None
    paths = [f"pkg/{name}.py" for name in ("__init__", "a", "b", "c", "d", "e", "f", "g", "h")]

    found = find_imported(Modules(paths), file.file)

    assert found == {f"pkg/{name}.py" for name in ("__init__", "b", "d", "e", "f", "h")}


def concerned_by(changed: str, *files: File, manifests: dict[str, str] | None = None) -> set[str]:
    paths = [file.path for file in files]
    found = find_dependents([changed], by_path(*files), Modules([*paths, changed], manifests))
    return found - {changed}


def test_no_change_concerns_no_file() -> None:
    assert find_dependents([], by_path(known("a.py")), Modules(["a.py"])) == set()


def test_importers_and_their_importers_are_concerned() -> None:
    files = [
        *(known("a.py"), known("b.py", "python", "a\tf"), known("c.py", "python", "b\tf")),
        *(known("d.py"), known("e.py", "python", "d\tf")),
    ]

    assert concerned_by("a.py", *files) == {"b.py", "c.py"}


def test_importers_of_a_python_package_see_its_modules() -> None:
    files = [known("app/__init__.py"), known("app/a.py"), known("b.py", "python", "app")]

    assert concerned_by("app/a.py", *files) == {"b.py"}


def test_a_circle_of_imports_ends() -> None:
    files = [known("a.py", "python", "b"), known("b.py", "python", "a"), known("c.py")]

    assert concerned_by("a.py", *files) == {"b.py"}


def test_a_go_package_and_its_importers_see_its_files() -> None:
    files = [
        *(known("go.mod", "text"), known("s/a.go", "go"), known("s/b.go", "go")),
        *(known("s/b_test.go", "go"), known("t/c.go", "go", "example.com/shop/s")),
        *(known("t/d.go", "go"), known("u/e.go", "go"), known("s/a.py")),
    ]

    found = concerned_by("s/a.go", *files, manifests=GO_MOD)

    # What is in t may inherit from s by what c.go declares.
    assert found == {"s/b.go", "s/b_test.go", "t/c.go", "t/d.go"}


def test_a_java_test_sees_the_package_that_it_tests() -> None:
    files = [
        known("src/main/java/p/A.java", "java"),
        known("src/test/java/p/ATest.java", "java"),
        known("src/main/java/q/B.java", "java"),
    ]

    assert concerned_by("src/main/java/p/A.java", *files) == {"src/test/java/p/ATest.java"}


def test_what_inherits_through_a_neighbour_is_concerned() -> None:
    files = [
        known("p/A.java", "java"),
        known("q/B.java", "java", "p\tA"),
        known("q/C.java", "java"),  # extends B, without an import
    ]

    assert concerned_by("p/A.java", *files) == {"q/B.java", "q/C.java"}


def test_a_kotlin_file_may_use_a_java_type_of_anywhere() -> None:
    files = [known("p/A.java", "java"), known("q/B.kt", "kotlin"), known("r/C.java", "java")]

    assert concerned_by("p/A.java", *files) == {"q/B.kt"}


@pytest.mark.parametrize("language", ["csharp", "elixir", "php", "ruby", "rust", "swift"])
def test_where_types_are_known_everywhere_all_files_are_concerned(language: str) -> None:
    files = [known("a", language), known("x/b", language), known("c.py")]

    assert concerned_by("a", *files) == {"x/b"}


def test_a_manifest_concerns_every_file() -> None:
    files = [known("package.json", "json"), known("a.py"), known("b.ts", "typescript")]

    assert concerned_by("package.json", *files) == {"a.py", "b.ts"}


def test_a_file_that_is_no_longer_known_still_concerns_its_importers() -> None:
    files = [known("b.py", "python", "a"), known("c.py")]

    assert concerned_by("a.py", *files) == {"b.py"}


def moved(old: list[File], now: list[str], manifests: dict[str, str] | None = None) -> set[str]:
    files = by_path(*old)
    gone = [path for path in files if path not in now]
    return find_moved_imports(gone, files, Modules(files, manifests), Modules(now, manifests))


def test_an_import_that_finds_its_file_now_is_unsettled() -> None:
    old = [known("b.py", "python", "a\tf"), known("c.py", "python", "d\tf")]

    assert moved(old, ["a.py", "b.py", "c.py"]) == {"b.py"}


def test_an_import_that_lost_its_file_is_unsettled() -> None:
    old = [known("a.py"), known("b.py", "python", "a\tf"), known("c.py", "python", "d\tf")]

    assert moved(old, ["b.py", "c.py"]) == {"b.py"}


def test_an_import_of_a_library_that_may_be_of_the_project_now_is_unsettled() -> None:
    old = [known("b.py", "python", "requests"), known("c.py", "python", "numpy")]

    # Either could be meant, so neither is; but it is no longer a library.
    assert moved(old, ["b.py", "c.py", "x/requests.py", "y/requests.py"]) == {"b.py"}


def test_importers_of_a_package_that_lost_a_module_are_unsettled() -> None:
    old = [known("app/__init__.py"), known("app/a.py"), known("b.py", "python", "app")]

    assert moved(old, ["app/__init__.py", "b.py"]) == {"b.py"}


def test_the_package_of_a_file_that_is_gone_is_unsettled() -> None:
    old = [known("s/a.go", "go"), known("s/b.go", "go"), known("t/c.go", "go")]

    assert moved(old, ["s/b.go", "t/c.go"]) == {"s/b.go"}


def test_without_a_manifest_everything_is_unsettled() -> None:
    old = [known("go.mod", "text"), known("a.py"), known("b.go", "go")]

    assert moved(old, ["a.py", "b.go"], GO_MOD) == {"a.py", "b.go"}
