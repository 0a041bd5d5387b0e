"""Languages: known by a file's name, loaded when first met."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ragforge.brain.languages.table import detect_language
from ragforge.brain.parse.read_source import parse


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a.py", "python"),
        ("stubs/a.pyi", "python"),
        ("src/a.TSX", "tsx"),
        ("a.mjs", "javascript"),
        ("a.d.ts", "typescript"),
        ("lib/a.hpp", "cpp"),
        ("a.h", "c"),
        ("Makefile", "makefile"),
        ("docker/Dockerfile", "dockerfile"),
        ("Dockerfile.dev", "dockerfile"),
        ("Gemfile", "ruby"),
        ("Rakefile", "ruby"),
        ("home/.bashrc", "bash"),
        ("CMakeLists.txt", "cmake"),
        ("README.md", "markdown"),
        ("notes.txt", "text"),
        ("a.yml", "yaml"),
        ("LICENSE", None),
        ("a.unknown", None),
        ("", None),
    ],
)
def test_a_file_name_tells_the_language(path: str, language: str | None) -> None:
    assert detect_language(path) == language


def test_a_header_is_cpp_where_it_says_what_c_could_not() -> None:
    assert parse("a.h", "struct point { int x; };\n").language == "c"
    assert parse("a.h", "#pragma once\nnamespace geo {\nclass Point {};\n}\n").language == "cpp"


def test_importing_the_package_imports_no_grammar() -> None:
    program = (
        "import sys, ragforge.brain.parse; "
        "print([name for name in sys.modules if name.startswith('tree_sitter_')])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert printed.stdout.strip() == "[]"
