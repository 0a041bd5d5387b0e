"""The tests that the plans ask for are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_every_test_that_the_table_names_exists() -> None:
    named = NAMED.findall((ROOT / "docs" / "seed-tests.md").read_text())
    assert len(named) >= 25
    missing = [f"{file}::{test}" for file, test in named if test not in _tests(ROOT / file)]
    assert missing == []


def _tests(file: Path) -> set[str]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    body = ast.parse(file.read_text()).body if file.is_file() else []
    return {node.name for node in body if isinstance(node, functions)}
